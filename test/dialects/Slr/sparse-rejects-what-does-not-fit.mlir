// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @values(%x: tensor<2x3xf32>, %v: tensor<4x1xf32>, %a: tensor<4xi32>, %b: tensor<4xi32>, %c: tensor<5xi32>, %d: tensor<4xi32>, %e: tensor<4xi32>) -> tensor<2x4xf32> {
  // expected-error @below {{the values of a sparse matrix are [blocks, p, q] or [elements], not 'tensor<4x1xf32>'}}
  %y = slr.sparse_linear %x, %v at (%a, %b, %c, %d, %e) : tensor<2x3xf32>, tensor<4x1xf32>, (tensor<4xi32>, tensor<4xi32>, tensor<5xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

func.func @places(%x: tensor<2x3xf32>, %v: tensor<4x1x1xf32>, %a: tensor<4xi32>, %b: tensor<3xi32>, %c: tensor<5xi32>, %d: tensor<4xi32>, %e: tensor<4xi32>) -> tensor<2x4xf32> {
  // expected-error @below {{4 blocks have as many places, not 'tensor<3xi32>'}}
  %y = slr.sparse_linear %x, %v at (%a, %b, %c, %d, %e) : tensor<2x3xf32>, tensor<4x1x1xf32>, (tensor<4xi32>, tensor<3xi32>, tensor<5xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

func.func @starts(%x: tensor<2x3xf32>, %v: tensor<4x1x1xf32>, %a: tensor<1xi32>, %b: tensor<4xi32>, %c: tensor<5xi32>, %d: tensor<4xi32>, %e: tensor<4xi32>) -> tensor<2x4xf32> {
  // expected-error @below {{a sparse matrix has at least one row and one column of blocks, and a start more than it has rows or columns}}
  %y = slr.sparse_linear %x, %v at (%a, %b, %c, %d, %e) : tensor<2x3xf32>, tensor<4x1x1xf32>, (tensor<1xi32>, tensor<4xi32>, tensor<5xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

func.func @rows(%x: tensor<2x5xf32>, %v: tensor<4x1x1xf32>, %a: tensor<4xi32>, %b: tensor<4xi32>, %c: tensor<5xi32>, %d: tensor<4xi32>, %e: tensor<4xi32>) -> tensor<2x4xf32> {
  // expected-error @below {{has rows of 3 elements of the type of the values, as many of the inputs as of the outputs, and not 'tensor<2x5xf32>'}}
  %y = slr.sparse_linear %x, %v at (%a, %b, %c, %d, %e) : tensor<2x5xf32>, tensor<4x1x1xf32>, (tensor<4xi32>, tensor<4xi32>, tensor<5xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
