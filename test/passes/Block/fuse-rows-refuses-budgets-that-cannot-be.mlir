// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --fuse-rows --split-input-file --verify-diagnostics

// expected-error @below {{drawloom.tile_bytes cannot be 0 : i64: it is 1 or more}}
func.func @none(%x: tensor<256x64xf32>) -> tensor<256x64xf32> attributes {drawloom.tile_bytes = 0 : i64} {
  %e = tensor.empty() : tensor<256x64xf32>
  %y = linalg.exp ins(%x : tensor<256x64xf32>) outs(%e : tensor<256x64xf32>) -> tensor<256x64xf32>
  return %y : tensor<256x64xf32>
}

// -----

// expected-error @below {{'drawloom.tile_bytes' is an integer, and cannot be "two"}}
func.func @text(%x: tensor<256x64xf32>) -> tensor<256x64xf32> attributes {drawloom.tile_bytes = "two"} {
  %e = tensor.empty() : tensor<256x64xf32>
  %y = linalg.exp ins(%x : tensor<256x64xf32>) outs(%e : tensor<256x64xf32>) -> tensor<256x64xf32>
  return %y : tensor<256x64xf32>
}
