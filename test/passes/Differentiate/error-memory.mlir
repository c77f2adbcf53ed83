// RUN: drawloom-opt %s --differentiate -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: f32, %m: memref<f32>) -> f32 {
  // expected-error @+1 {{cannot be differentiated: 'memref.store' works on memory; differentiate before bufferization}}
  memref.store %x, %m[] : memref<f32>
  %y = memref.load %m[] : memref<f32>
  return %y : f32
}

func.func @df(%x: f32, %m: memref<f32>, %g: f32) -> f32 {
  // expected-note @+1 {{while differentiating '@f'}}
  %y, %dx = ad.vjp @f(%x, %m) cotangents(%g) wrt [0] : (f32, memref<f32>) -> (f32, f32)
  return %dx : f32
}
