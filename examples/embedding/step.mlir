// A step of gradient descent for sin(3 x) by a network of 16 hidden units: takes
// the parameters, and gives the loss and the parameters after the step.

!x = tensor<256x1xf32>
!h = tensor<256x16xf32>
!w1 = tensor<1x16xf32>
!b1 = tensor<16xf32>
!w2 = tensor<16x1xf32>

func.func private @loss(%x: !x, %y: !x, %w1: !w1, %b1: !b1, %w2: !w2) -> tensor<f32> {
  %e = tensor.empty() : !h
  %bias = linalg.broadcast ins(%b1 : !b1) outs(%e : !h) dimensions = [0]
  %z = linalg.matmul ins(%x, %w1 : !x, !w1) outs(%bias : !h) -> !h
  %h = kan.tanh %z : !h
  %zero = arith.constant dense<0.0> : !x
  %p = linalg.matmul ins(%h, %w2 : !h, !w2) outs(%zero : !x) -> !x
  %l = loss.mse %p, %y : !x -> tensor<f32>
  return %l : tensor<f32>
}

func.func @step(%x: !x, %y: !x, %w1: !w1, %b1: !b1, %w2: !w2, %rate: f32) -> (tensor<f32>, !w1, !b1, !w2) {
  %l, %d:3 = ad.value_and_grad @loss(%x, %y, %w1, %b1, %w2) wrt [2, 3, 4]
    : (!x, !x, !w1, !b1, !w2) -> (tensor<f32>, !w1, !b1, !w2)
  %n:3 = opt.sgd params(%w1, %b1, %w2) grads(%d#0, %d#1, %d#2) lr(%rate : f32) : !w1, !b1, !w2
  return %l, %n#0, %n#1, %n#2 : tensor<f32>, !w1, !b1, !w2
}
