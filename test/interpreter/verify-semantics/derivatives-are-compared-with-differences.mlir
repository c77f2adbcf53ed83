// RUN: drawloom-opt %s --differentiate --verify-semantics -o /dev/null

func.func private @loss(%x: tensor<4xf64>, %w: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %a = tensor.extract %x[%c0] : tensor<4xf64>
  %b = arith.mulf %a, %w : f64
  %y = math.sin %b : f64
  return %y : f64
}

func.func @gradients(%x: tensor<4xf64>, %w: f64) -> (f64, tensor<4xf64>, f64) {
  %y, %dx, %dw = ad.value_and_grad @loss(%x, %w) wrt [0, 1] : (tensor<4xf64>, f64) -> (f64, tensor<4xf64>, f64)
  return %y, %dx, %dw : f64, tensor<4xf64>, f64
}
