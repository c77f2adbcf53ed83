// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @wrap() {
  %a = arith.constant 127 : i8
  %b = arith.constant 1 : i8
  %sum = arith.addi %a, %b : i8
  %product = arith.muli %a, %a : i8
  %e0 = arith.constant -128 : i8
  %e1 = arith.constant 1 : i8
  check.equal_bits %sum, %e0 : i8
  check.equal_bits %product, %e1 : i8
  return
}
