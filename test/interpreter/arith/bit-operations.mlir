// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @bits() {
  %a = arith.constant 12 : i16
  %b = arith.constant 10 : i16
  %and = arith.andi %a, %b : i16
  %or = arith.ori %a, %b : i16
  %xor = arith.xori %a, %b : i16
  %e0 = arith.constant 8 : i16
  %e1 = arith.constant 14 : i16
  %e2 = arith.constant 6 : i16
  check.equal_bits %and, %e0 : i16
  check.equal_bits %or, %e1 : i16
  check.equal_bits %xor, %e2 : i16
  return
}
