// RUN: drawloom-opt %s --interpret-checks -o /dev/null

func.func @element() {
  %t = arith.constant dense<1.0> : tensor<2xf32>
  %c0 = arith.constant 0 : index
  %x = arith.constant 5.0 : f32
  %u = tensor.insert %x into %t[%c0] : tensor<2xf32>
  %old = tensor.extract %t[%c0] : tensor<2xf32>
  %one = arith.constant 1.0 : f32
  check.equal_bits %old, %one : f32
  return
}
