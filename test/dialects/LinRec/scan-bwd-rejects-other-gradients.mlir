// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @rejected(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>, %decay: tensor<4xf32>, %d_o: tensor<2x5x4x6xf32>, %d_final: tensor<2x4x8x6xf32>) {
  // expected-error @below {{must have one result for each operand but starts: 4, but has 3}}
  %0:3 = linrec.scan_bwd %q, %k, %v decay(%decay) cotangents(%d_o, %d_final)
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<4xf32>, tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>, %decay: tensor<4xf32>, %d_o: tensor<2x5x4x6xf32>, %d_final: tensor<2x4x8x6xf32>) {
  // expected-error @below {{the gradient of an operand 'tensor<4xf32>' must have its type, but is 'tensor<2x5x4xf32>'}}
  %0:4 = linrec.scan_bwd %q, %k, %v decay(%decay) cotangents(%d_o, %d_final)
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<4xf32>, tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4xf32>)
  return
}
