// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @wide() {
  %a = arith.constant 1.5 : f32
  %b = arith.constant 1.0 : f32
  check.close %a, %b {atol = 0.5, rtol = 0.0} : f32
  return
}
func.func @narrow() {
  %a = arith.constant 1.5 : f32
  %b = arith.constant 1.0 : f32
  // expected-error @+1 {{differ by more than rtol 0, atol 0.25}}
  check.close %a, %b {atol = 0.25, rtol = 0.0} : f32
  return
}
