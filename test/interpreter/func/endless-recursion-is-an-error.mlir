// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func private @loop(%x: f32) -> f32 {
  // expected-error @+1 {{calls @loop more than 200 levels deep}}
  %y = call @loop(%x) : (f32) -> f32
  return %y : f32
}
func.func @main() {
  %x = arith.constant 1.0 : f32
  %y = call @loop(%x) : (f32) -> f32
  return
}
