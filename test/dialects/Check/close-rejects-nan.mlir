// RUN: drawloom-opt %s --interpret-checks --verify-diagnostics -o /dev/null

func.func @nan() {
  %nan = arith.constant 0x7FC00000 : f32
  // expected-error @+1 {{failed: actual nan, expected nan}}
  check.close %nan, %nan : f32
  return
}
