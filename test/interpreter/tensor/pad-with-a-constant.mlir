// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @pad() {
  %t = arith.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %z = arith.constant 9.0 : f32
  %c1 = arith.constant 1 : index
  %p = tensor.pad %t low[%c1, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<1x2xf32> to tensor<?x3xf32>
  %e = arith.constant dense<[[9.0, 9.0, 9.0], [1.0, 2.0, 9.0]]> : tensor<2x3xf32>
  check.equal_bits %p, %e : tensor<?x3xf32>, tensor<2x3xf32>
  return
}
