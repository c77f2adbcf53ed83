// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @infinities() {
  %inf = arith.constant 0x7F800000 : f32
  %minus = arith.constant 0xFF800000 : f32
  check.close %inf, %inf : f32
  // expected-error @+1 {{failed: actual inf, expected -inf}}
  check.close %inf, %minus : f32
  return
}
