// RUN: drawloom-opt %s -split-input-file --decompose-graph -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @rejected(%q: tensor<2x?x4x8xf32>, %k: tensor<2x?x4x8xf32>, %v: tensor<2x?x4x6xf32>) -> tensor<2x?x4x6xf32> {
  // expected-error @below {{'linrec.scan' op has no decomposition for these types}}
  // expected-error @below {{can be compiled for any numbers of sequences and tokens only on the CPU, where a token is one step, and neither sequences nor states are cut}}
  %0:2 = linrec.scan %q, %k, %v {segments = 2}
      : (tensor<2x?x4x8xf32>, tensor<2x?x4x8xf32>, tensor<2x?x4x6xf32>) -> (tensor<2x?x4x6xf32>, tensor<2x4x8x6xf32>)
  return %0#0 : tensor<2x?x4x6xf32>
}

// -----

func.func @rejected(%q: tensor<2x?x4x8xf32>, %k: tensor<2x?x4x8xf32>, %v: tensor<2x?x4x6xf32>, %d_o: tensor<2x?x4x6xf32>, %d_final: tensor<2x4x8x6xf32>) -> tensor<2x?x4x8xf32> {
  // expected-error @below {{'linrec.scan_bwd' op has no decomposition for these types}}
  // expected-error @below {{can be compiled for any numbers of sequences and tokens only on the CPU, where a token is one step, and neither sequences nor states are cut}}
  %0:3 = linrec.scan_bwd %q, %k, %v cotangents(%d_o, %d_final) {value_blocks = 2}
      : (tensor<2x?x4x8xf32>, tensor<2x?x4x8xf32>, tensor<2x?x4x6xf32>, tensor<2x?x4x6xf32>, tensor<2x4x8x6xf32>) -> (tensor<2x?x4x8xf32>, tensor<2x?x4x8xf32>, tensor<2x?x4x6xf32>)
  return %0#0 : tensor<2x?x4x8xf32>
}
