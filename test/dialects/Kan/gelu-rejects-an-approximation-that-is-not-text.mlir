// RUN: drawloom-opt %s -verify-diagnostics

func.func @gelu(%x: f32) -> f32 {
  // expected-error @+1 {{'kan.gelu' op attribute 'approximate' failed to satisfy constraint: "none" or "tanh"}}
  %0 = kan.gelu %x {approximate} : f32
  return %0 : f32
}
