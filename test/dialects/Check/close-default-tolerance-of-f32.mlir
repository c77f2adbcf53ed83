// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @inside() {
  %a = arith.constant 1.000009 : f32
  %b = arith.constant 1.0 : f32
  check.close %a, %b : f32
  return
}
func.func @outside() {
  %a = arith.constant 1.00002 : f32
  %b = arith.constant 1.0 : f32
  // expected-error @+1 {{failed: actual 1.000}}
  check.close %a, %b : f32
  return
}
