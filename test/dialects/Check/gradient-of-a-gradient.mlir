// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

// The gradient is right, that of the gradient is not: it is 0 where the factor is 0.
func.func @f(%x: f64 {check.range = array<f64: 0.0, 0.0>}, %w: f64) -> f64 {
  %a = kan.relu %x : f64
  %b = arith.mulf %a, %x : f64
  %y = arith.mulf %b, %w : f64
  return %y : f64
}

func.func @first() {
  check.gradient @f wrt [0] {order = 1}
  return
}

func.func @second() {
  // expected-error @+1 {{failed: @f, argument #0 of the gradient, element 0}}
  check.gradient @f wrt [0]
  return
}
