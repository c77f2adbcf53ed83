// A picture as a network: a position (x, y) in, a colour (r, g, b) out.
//
// @encode and @activation are choices of the command line: the program links
// encoding_<name>.mlir and activation_<name>.mlir to this file, then puts
// numbers in the place of every `?`. Gradients are not written here:
// ad.value_and_grad asks for them.

!xy = tensor<?x2xf32>
!rgb = tensor<?x3xf32>
!hidden = tensor<?x64xf32>
// Parameters: what the encoding learns, weights, biases, and for each hidden
// layer the coefficients of a numerator and a denominator in 8 groups.
!t = tensor<?x?x2xf32>
!w1 = tensor<?x64xf32>
!w2 = tensor<64x64xf32>
!w3 = tensor<64x3xf32>
!b = tensor<64xf32>
!b3 = tensor<3xf32>
!p = tensor<8x6xf32>
!q = tensor<8x4xf32>

func.func private @encode(!xy, !t) -> tensor<?x?xf32>
func.func private @activation(!hidden, !p, !q) -> !hidden

func.func private @network(%xy: !xy, %t: !t, %w1: !w1, %b1: !b, %p1: !p, %q1: !q, %w2: !w2, %b2: !b, %p2: !p, %q2: !q, %w3: !w3, %b3: !b3) -> !rgb {
  %zero = arith.constant 0 : index
  %rows = tensor.dim %xy, %zero : !xy
  %hidden = tensor.empty(%rows) : !hidden
  %rgb = tensor.empty(%rows) : !rgb

  %x0 = call @encode(%xy, %t) : (!xy, !t) -> tensor<?x?xf32>
  %c1 = linalg.broadcast ins(%b1 : !b) outs(%hidden : !hidden) dimensions = [0]
  %z1 = linalg.matmul ins(%x0, %w1 : tensor<?x?xf32>, !w1) outs(%c1 : !hidden) -> !hidden
  %x1 = call @activation(%z1, %p1, %q1) : (!hidden, !p, !q) -> !hidden
  %c2 = linalg.broadcast ins(%b2 : !b) outs(%hidden : !hidden) dimensions = [0]
  %z2 = linalg.matmul ins(%x1, %w2 : !hidden, !w2) outs(%c2 : !hidden) -> !hidden
  %x2 = call @activation(%z2, %p2, %q2) : (!hidden, !p, !q) -> !hidden
  %c3 = linalg.broadcast ins(%b3 : !b3) outs(%rgb : !rgb) dimensions = [0]
  %z3 = linalg.matmul ins(%x2, %w3 : !hidden, !w3) outs(%c3 : !rgb) -> !rgb
  return %z3 : !rgb
}

func.func private @loss(%xy: !xy, %rgb: !rgb, %t: !t, %w1: !w1, %b1: !b, %p1: !p, %q1: !q, %w2: !w2, %b2: !b, %p2: !p, %q2: !q, %w3: !w3, %b3: !b3) -> tensor<f32> {
  %y = call @network(%xy, %t, %w1, %b1, %p1, %q1, %w2, %b2, %p2, %q2, %w3, %b3) : (!xy, !t, !w1, !b, !p, !q, !w2, !b, !p, !q, !w3, !b3) -> !rgb
  %loss = loss.mse %y, %rgb : !rgb -> tensor<f32>
  return %loss : tensor<f32>
}

// One step of Adam: the parameters, their first moments (m), second moments (v)
// in and out. %rate follows the schedule; %step counts from 1.
func.func @step(%xy: !xy, %rgb: !rgb, %rate: f32, %step: i64,
    %t: !t, %w1: !w1, %b1: !b, %p1: !p, %q1: !q, %w2: !w2, %b2: !b, %p2: !p, %q2: !q, %w3: !w3, %b3: !b3,
    %mt: !t, %mw1: !w1, %mb1: !b, %mp1: !p, %mq1: !q, %mw2: !w2, %mb2: !b, %mp2: !p, %mq2: !q, %mw3: !w3, %mb3: !b3,
    %vt: !t, %vw1: !w1, %vb1: !b, %vp1: !p, %vq1: !q, %vw2: !w2, %vb2: !b, %vp2: !p, %vq2: !q, %vw3: !w3, %vb3: !b3)
    -> (tensor<f32>, !t, !w1, !b, !p, !q, !w2, !b, !p, !q, !w3, !b3, !t, !w1, !b, !p, !q, !w2, !b, !p, !q, !w3, !b3, !t, !w1, !b, !p, !q, !w2, !b, !p, !q, !w3, !b3) {
  %loss, %g:11 = ad.value_and_grad @loss(%xy, %rgb, %t, %w1, %b1, %p1, %q1, %w2, %b2, %p2, %q2, %w3, %b3) wrt [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    : (!xy, !rgb, !t, !w1, !b, !p, !q, !w2, !b, !p, !q, !w3, !b3) -> (tensor<f32>, !t, !w1, !b, !p, !q, !w2, !b, !p, !q, !w3, !b3)
  %n:11, %m:11, %v:11 = opt.adamw
    params(%t, %w1, %b1, %p1, %q1, %w2, %b2, %p2, %q2, %w3, %b3)
    grads(%g#0, %g#1, %g#2, %g#3, %g#4, %g#5, %g#6, %g#7, %g#8, %g#9, %g#10)
    first(%mt, %mw1, %mb1, %mp1, %mq1, %mw2, %mb2, %mp2, %mq2, %mw3, %mb3)
    second(%vt, %vw1, %vb1, %vp1, %vq1, %vw2, %vb2, %vp2, %vq2, %vw3, %vb3)
    lr(%rate : f32) step(%step : i64) weight_decay [0.0]
    lr_scale [1.0e-2, 5.0e-3, 5.0e-3, 5.0e-3, 5.0e-3, 5.0e-3, 5.0e-3, 5.0e-3, 5.0e-3, 5.0e-3, 5.0e-3]
    {beta1 = 0.9, beta2 = 0.99, epsilon = 1.0e-12}
    : !t, !w1, !b, !p, !q, !w2, !b, !p, !q, !w3, !b3
  return %loss, %n#0, %n#1, %n#2, %n#3, %n#4, %n#5, %n#6, %n#7, %n#8, %n#9, %n#10, %m#0, %m#1, %m#2, %m#3, %m#4, %m#5, %m#6, %m#7, %m#8, %m#9, %m#10, %v#0, %v#1, %v#2, %v#3, %v#4, %v#5, %v#6, %v#7, %v#8, %v#9, %v#10
    : tensor<f32>, !t, !w1, !b, !p, !q, !w2, !b, !p, !q, !w3, !b3, !t, !w1, !b, !p, !q, !w2, !b, !p, !q, !w3, !b3, !t, !w1, !b, !p, !q, !w2, !b, !p, !q, !w3, !b3
}

// For the pictures: the colours at some positions, and the activation alone.
func.func @predict(%xy: !xy, %t: !t, %w1: !w1, %b1: !b, %p1: !p, %q1: !q, %w2: !w2, %b2: !b, %p2: !p, %q2: !q, %w3: !w3, %b3: !b3) -> !rgb {
  %y = call @network(%xy, %t, %w1, %b1, %p1, %q1, %w2, %b2, %p2, %q2, %w3, %b3) : (!xy, !t, !w1, !b, !p, !q, !w2, !b, !p, !q, !w3, !b3) -> !rgb
  return %y : !rgb
}
func.func @activations(%x: !hidden, %p: !p, %q: !q) -> !hidden {
  %y = call @activation(%x, %p, %q) : (!hidden, !p, !q) -> !hidden
  return %y : !hidden
}
