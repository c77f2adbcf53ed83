// RUN: drawloom-opt %s --differentiate --verify-semantics --verify-diagnostics -o /dev/null

// At 0 the gradient of relu is 0 by definition, and differences see half of the slope.
func.func private @relu(%x: f64) -> f64 {
  %y = kan.relu %x : f64
  return %y : f64
}

// expected-error @+1 {{@gradient has another meaning after the passes than before (seed 0): result #0}}
func.func @gradient(%x: f64 {check.range = array<f64: 0.0, 0.0>}) -> f64 {
  %y, %dx = ad.value_and_grad @relu(%x) wrt [0] : (f64) -> (f64, f64)
  return %dx : f64
}
