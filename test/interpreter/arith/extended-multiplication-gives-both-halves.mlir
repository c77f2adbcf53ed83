// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @wide() {
  %a = arith.constant -2 : i8
  %b = arith.constant 100 : i8
  %slow, %shigh = arith.mulsi_extended %a, %b : i8
  %ulow, %uhigh = arith.mului_extended %a, %b : i8
  %sum, %carry = arith.addui_extended %a, %b : i8, i1
  // -200 = -1 * 256 + 56; 254 * 100 = 99 * 256 + 56; 254 + 100 = 256 + 98.
  %low = arith.constant 56 : i8
  %m1 = arith.constant -1 : i8
  %c99 = arith.constant 99 : i8
  %c98 = arith.constant 98 : i8
  %true = arith.constant true
  check.equal_bits %slow, %low : i8
  check.equal_bits %shigh, %m1 : i8
  check.equal_bits %ulow, %low : i8
  check.equal_bits %uhigh, %c99 : i8
  check.equal_bits %sum, %c98 : i8
  check.equal_bits %carry, %true : i1
  return
}
