// RUN: drawloom-opt %s -verify-diagnostics

func.func @unknown(%x: f32) {
  // expected-error @below {{"none" or "tanh"}}
  %0 = kan.gelu %x {approximate = "erf"} : f32
  return
}
