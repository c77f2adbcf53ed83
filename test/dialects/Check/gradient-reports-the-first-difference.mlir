// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

// At 0 the gradient of relu is 0 by definition, and differences see half of the slope.
func.func @f(%x: tensor<3xf64> {check.range = array<f64: 0.0, 0.0>}) -> tensor<3xf64> {
  %y = kan.relu %x : tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @gradients() {
  // expected-error-re @+1 {{failed: @f, argument #0, element 0: the gradient is {{-?}}0, differences give {{.*}}}}
  check.gradient @f wrt [0]
  return
}
