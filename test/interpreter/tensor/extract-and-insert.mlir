// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @element() {
  %t = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tensor.extract %t[%c0, %c1] : tensor<2x2xf32>
  %u = tensor.insert %x into %t[%c1, %c0] : tensor<2x2xf32>
  %two = arith.constant 2.0 : f32
  %e = arith.constant dense<[[1.0, 2.0], [2.0, 4.0]]> : tensor<2x2xf32>
  check.equal_bits %x, %two : f32
  check.equal_bits %u, %e : tensor<2x2xf32>
  return
}
