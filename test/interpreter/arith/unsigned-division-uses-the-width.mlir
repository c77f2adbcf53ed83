// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @divide() {
  // 254 / 3 and 254 mod 3 in eight bits.
  %a = arith.constant -2 : i8
  %b = arith.constant 3 : i8
  %quotient = arith.divui %a, %b : i8
  %remainder = arith.remui %a, %b : i8
  %ceil = arith.ceildivui %a, %b : i8
  %e0 = arith.constant 84 : i8
  %e1 = arith.constant 2 : i8
  %e2 = arith.constant 85 : i8
  check.equal_bits %quotient, %e0 : i8
  check.equal_bits %remainder, %e1 : i8
  check.equal_bits %ceil, %e2 : i8
  return
}
