// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @rejected(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>, %d_o: tensor<2x5x4x8xf32>, %d_final: tensor<2x4x8x6xf32>) {
  // expected-error @below {{the cotangent d_o must be 'tensor<2x5x4x6xf32>', but is 'tensor<2x5x4x8xf32>'}}
  %0:3 = linrec.scan_bwd %q, %k, %v cotangents(%d_o, %d_final)
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x8xf32>, tensor<2x4x8x6xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<2x5x4x8xf16>, %k: tensor<2x5x4x8xf16>, %v: tensor<2x5x4x6xf16>, %d_o: tensor<2x5x4x6xf16>, %d_final: tensor<2x4x8x6xf16>) {
  // expected-error @below {{the cotangent d_final must be 'tensor<2x4x8x6xf32>', but is 'tensor<2x4x8x6xf16>'}}
  %0:3 = linrec.scan_bwd %q, %k, %v cotangents(%d_o, %d_final)
      : (tensor<2x5x4x8xf16>, tensor<2x5x4x8xf16>, tensor<2x5x4x6xf16>, tensor<2x5x4x6xf16>, tensor<2x4x8x6xf16>) -> (tensor<2x5x4x8xf16>, tensor<2x5x4x8xf16>, tensor<2x5x4x6xf16>)
  return
}
