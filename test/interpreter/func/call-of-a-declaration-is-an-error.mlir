// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func private @elsewhere(f32) -> f32
func.func @main() {
  %x = arith.constant 1.0 : f32
  // expected-error @+1 {{calls @elsewhere, which has no body}}
  %y = call @elsewhere(%x) : (f32) -> f32
  return
}
