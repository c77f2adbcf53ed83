// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @make() {
  %x = arith.constant 1.5 : f32
  %y = arith.constant 2.5 : f32
  %c2 = arith.constant 2 : index
  %s = tensor.splat %x[%c2] : tensor<?x2xf32>
  %f = tensor.from_elements %x, %y : tensor<2xf32>
  %e0 = arith.constant dense<1.5> : tensor<2x2xf32>
  %e1 = arith.constant dense<[1.5, 2.5]> : tensor<2xf32>
  check.equal_bits %s, %e0 : tensor<?x2xf32>, tensor<2x2xf32>
  check.equal_bits %f, %e1 : tensor<2xf32>
  return
}
