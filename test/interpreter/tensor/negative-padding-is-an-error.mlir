// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @pad() {
  %t = arith.constant dense<1.0> : tensor<2xf32>
  %z = arith.constant 9.0 : f32
  %m1 = arith.constant -1 : index
  // expected-error @+1 {{pads dimension 0 by -1 and 0 elements}}
  %p = tensor.pad %t low[%m1] high[0] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<2xf32> to tensor<?xf32>
  return
}
