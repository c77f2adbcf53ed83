// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @digits() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c42 = arith.constant 42 : index
  // 42 = (2 * 3 + 2) * 5 + 2
  %d:3 = affine.delinearize_index %c42 into (4, 3, 5) : index, index, index
  %o:2 = affine.delinearize_index %c42 into (%c5) : index, index
  %l = affine.linearize_index [%d#0, %d#1, %d#2] by (4, 3, %c5) : index
  %m = affine.linearize_index [%o#0, %o#1] by (5) : index
  %c8 = arith.constant 8 : index
  check.equal_bits %d#0, %c2 : index
  check.equal_bits %d#1, %c2 : index
  check.equal_bits %d#2, %c2 : index
  check.equal_bits %o#0, %c8 : index
  check.equal_bits %o#1, %c2 : index
  check.equal_bits %l, %c42 : index
  check.equal_bits %m, %c42 : index
  return
}
