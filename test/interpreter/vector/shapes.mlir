// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func private @write(%v: vector<3x2xi32>) -> tensor<3x2xi32> {
  %t = tensor.empty() : tensor<3x2xi32>
  %c0 = arith.constant 0 : index
  %r = vector.transfer_write %v, %t[%c0, %c0] : vector<3x2xi32>, tensor<3x2xi32>
  return %r : tensor<3x2xi32>
}
func.func @shapes() {
  %x = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : vector<2x3xi32>
  %column = arith.constant dense<[[7], [8], [9]]> : vector<3x1xi32>
  %t = vector.transpose %x, [1, 0] : vector<2x3xi32> to vector<3x2xi32>
  %s = vector.shape_cast %x : vector<2x3xi32> to vector<3x2xi32>
  %b = vector.broadcast %column : vector<3x1xi32> to vector<3x2xi32>
  %tt = call @write(%t) : (vector<3x2xi32>) -> tensor<3x2xi32>
  %ts = call @write(%s) : (vector<3x2xi32>) -> tensor<3x2xi32>
  %tb = call @write(%b) : (vector<3x2xi32>) -> tensor<3x2xi32>
  %et = arith.constant dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
  %es = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %eb = arith.constant dense<[[7, 7], [8, 8], [9, 9]]> : tensor<3x2xi32>
  check.equal_bits %tt, %et : tensor<3x2xi32>
  check.equal_bits %ts, %es : tensor<3x2xi32>
  check.equal_bits %tb, %eb : tensor<3x2xi32>
  return
}
