// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @shifts() {
  %a = arith.constant -16 : i8
  %b = arith.constant 2 : i8
  %left = arith.shli %a, %b : i8
  %logical = arith.shrui %a, %b : i8
  %arithmetic = arith.shrsi %a, %b : i8
  %e0 = arith.constant -64 : i8
  %e1 = arith.constant 60 : i8
  %e2 = arith.constant -4 : i8
  check.equal_bits %left, %e0 : i8
  check.equal_bits %logical, %e1 : i8
  check.equal_bits %arithmetic, %e2 : i8
  return
}
