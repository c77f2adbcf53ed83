// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @matrices(%x: tensor<3x2xf32>, %m: tensor<2x1xf32>, %w: tensor<3xi32>) -> tensor<3x1xf32> {
  // expected-error @below {{has matrices [adapters, K, N] of known extents of at least 1, and not 'tensor<2x1xf32>'}}
  %y = slr.adapter_linear %x, %m by %w : tensor<3x2xf32>, tensor<2x1xf32>, tensor<3xi32> -> tensor<3x1xf32>
  return %y : tensor<3x1xf32>
}

// -----

func.func @rows(%x: tensor<3x3xf32>, %m: tensor<4x2x1xf32>, %w: tensor<3xi32>) -> tensor<3x1xf32> {
  // expected-error @below {{has rows of 2 and of 1 elements of the type of the matrices, and not 'tensor<3x3xf32>' and 'tensor<3x1xf32>'}}
  %y = slr.adapter_linear %x, %m by %w : tensor<3x3xf32>, tensor<4x2x1xf32>, tensor<3xi32> -> tensor<3x1xf32>
  return %y : tensor<3x1xf32>
}

// -----

func.func @which(%x: tensor<3x2xf32>, %m: tensor<4x2x1xf32>, %w: tensor<4xi32>) -> tensor<3x1xf32> {
  // expected-error @below {{has the adapter of each row: 'tensor<4xi32>' is not as long as 'tensor<3x2xf32>'}}
  %y = slr.adapter_linear %x, %m by %w : tensor<3x2xf32>, tensor<4x2x1xf32>, tensor<4xi32> -> tensor<3x1xf32>
  return %y : tensor<3x1xf32>
}

// -----

func.func @scales(%x: tensor<3x2xf32>, %m: tensor<4x2x1xf32>, %w: tensor<3xi32>, %s: tensor<3xf32>) -> tensor<3x1xf32> {
  // expected-error @below {{has a scale of each adapter, of the type of the rows or f32, and not 'tensor<3xf32>'}}
  %y = slr.adapter_linear %x, %m by %w scales %s : tensor<3x2xf32>, tensor<4x2x1xf32>, tensor<3xi32>, tensor<3xf32> -> tensor<3x1xf32>
  return %y : tensor<3x1xf32>
}
