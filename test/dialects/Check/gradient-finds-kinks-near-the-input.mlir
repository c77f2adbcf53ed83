// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

// The larger step reaches beyond 0, the smaller one less so.
func.func @f(%x: f64) -> f64 {
  %y = math.absf %x : f64
  return %y : f64
}

func.func @gradients() {
  // expected-error @+1 {{element 0: differences do not settle}}
  check.gradient @f wrt [0] in [0.0003, 0.0003]
  return
}
