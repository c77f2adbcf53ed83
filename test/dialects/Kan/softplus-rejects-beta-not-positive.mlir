// RUN: drawloom-opt %s -verify-diagnostics

func.func @zero(%x: f32) {
  // expected-error @below {{beta must be positive}}
  %0 = kan.softplus %x {beta = 0.0} : f32
  return
}
