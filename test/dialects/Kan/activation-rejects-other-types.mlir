// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

func.func @integer(%x: i32) {
  // expected-error @below {{must be f16, bf16, f32 or f64-like, but got 'i32'}}
  %0 = kan.relu %x : i32
  return
}

// -----

func.func @f8(%x: tensor<4xf8E4M3FN>) {
  // expected-error @below {{must be f16, bf16, f32 or f64-like}}
  %0 = kan.silu %x : tensor<4xf8E4M3FN>
  return
}
