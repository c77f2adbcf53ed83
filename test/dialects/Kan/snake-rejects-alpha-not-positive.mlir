// RUN: drawloom-opt %s -verify-diagnostics

func.func @zero(%x: f32) {
  // expected-error @below {{alpha must be positive}}
  %0 = kan.snake %x {alpha = 0.0} : f32
  return
}
