// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @read() {
  %x = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0 : i32
  %v = vector.transfer_read %x[%c0, %c0], %pad
    {permutation_map = affine_map<(i, j) -> (j, 0, i)>, in_bounds = [true, true, true]}
    : tensor<2x3xi32>, vector<3x2x2xi32>
  %t = tensor.empty() : tensor<3x2x2xi32>
  %r = vector.transfer_write %v, %t[%c0, %c0, %c0] : vector<3x2x2xi32>, tensor<3x2x2xi32>
  %e = arith.constant dense<[[[1, 4], [1, 4]], [[2, 5], [2, 5]], [[3, 6], [3, 6]]]> : tensor<3x2x2xi32>
  check.equal_bits %r, %e : tensor<3x2x2xi32>
  return
}
