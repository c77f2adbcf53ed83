// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tiles of this step are read from one copy and stored to another; waiting in shared memory, they wait for that as well.
// RUN: drawloom-translate %s --mlir-to-schedules | FileCheck %s
// CHECK: "train_0"
func.func @forward(%x: tensor<262144x32xbf16>, %w0: tensor<32x112xbf16>, %b0: tensor<112xbf16>, %w1: tensor<112x12xbf16>, %b1: tensor<12xbf16>, %w2: tensor<12x32xbf16>, %b2: tensor<32xbf16>, %w3: tensor<32x40xbf16>, %b3: tensor<40xbf16>, %w4: tensor<40x80xbf16>, %b4: tensor<80xbf16>, %w5: tensor<80x33xbf16>, %b5: tensor<33xbf16>) -> tensor<262144x33xbf16> {
  %e0 = tensor.empty() : tensor<262144x112xbf16>
  %c0 = linalg.broadcast ins(%b0 : tensor<112xbf16>) outs(%e0 : tensor<262144x112xbf16>) dimensions = [0]
  %s0 = linalg.matmul ins(%x, %w0 : tensor<262144x32xbf16>, tensor<32x112xbf16>) outs(%c0 : tensor<262144x112xbf16>) -> tensor<262144x112xbf16>
  %h0 = kan.relu %s0 : tensor<262144x112xbf16>
  %e1 = tensor.empty() : tensor<262144x12xbf16>
  %c1 = linalg.broadcast ins(%b1 : tensor<12xbf16>) outs(%e1 : tensor<262144x12xbf16>) dimensions = [0]
  %s1 = linalg.matmul ins(%h0, %w1 : tensor<262144x112xbf16>, tensor<112x12xbf16>) outs(%c1 : tensor<262144x12xbf16>) -> tensor<262144x12xbf16>
  %h1 = kan.relu %s1 : tensor<262144x12xbf16>
  %e2 = tensor.empty() : tensor<262144x32xbf16>
  %c2 = linalg.broadcast ins(%b2 : tensor<32xbf16>) outs(%e2 : tensor<262144x32xbf16>) dimensions = [0]
  %s2 = linalg.matmul ins(%h1, %w2 : tensor<262144x12xbf16>, tensor<12x32xbf16>) outs(%c2 : tensor<262144x32xbf16>) -> tensor<262144x32xbf16>
  %h2 = kan.relu %s2 : tensor<262144x32xbf16>
  %e3 = tensor.empty() : tensor<262144x40xbf16>
  %c3 = linalg.broadcast ins(%b3 : tensor<40xbf16>) outs(%e3 : tensor<262144x40xbf16>) dimensions = [0]
  %s3 = linalg.matmul ins(%h2, %w3 : tensor<262144x32xbf16>, tensor<32x40xbf16>) outs(%c3 : tensor<262144x40xbf16>) -> tensor<262144x40xbf16>
  %h3 = kan.relu %s3 : tensor<262144x40xbf16>
  %e4 = tensor.empty() : tensor<262144x80xbf16>
  %c4 = linalg.broadcast ins(%b4 : tensor<80xbf16>) outs(%e4 : tensor<262144x80xbf16>) dimensions = [0]
  %s4 = linalg.matmul ins(%h3, %w4 : tensor<262144x40xbf16>, tensor<40x80xbf16>) outs(%c4 : tensor<262144x80xbf16>) -> tensor<262144x80xbf16>
  %h4 = kan.relu %s4 : tensor<262144x80xbf16>
  %e5 = tensor.empty() : tensor<262144x33xbf16>
  %c5 = linalg.broadcast ins(%b5 : tensor<33xbf16>) outs(%e5 : tensor<262144x33xbf16>) dimensions = [0]
  %s5 = linalg.matmul ins(%h4, %w5 : tensor<262144x80xbf16>, tensor<80x33xbf16>) outs(%c5 : tensor<262144x33xbf16>) -> tensor<262144x33xbf16>
  return %s5 : tensor<262144x33xbf16>
}
func.func @train(%x: tensor<262144x32xbf16>, %dy: tensor<262144x33xbf16>, %w0: tensor<32x112xbf16>, %b0: tensor<112xbf16>, %w1: tensor<112x12xbf16>, %b1: tensor<12xbf16>, %w2: tensor<12x32xbf16>, %b2: tensor<32xbf16>, %w3: tensor<32x40xbf16>, %b3: tensor<40xbf16>, %w4: tensor<40x80xbf16>, %b4: tensor<80xbf16>, %w5: tensor<80x33xbf16>, %b5: tensor<33xbf16>) -> (tensor<262144x33xbf16>, tensor<262144x32xbf16>, tensor<32x112xbf16>, tensor<112xbf16>, tensor<112x12xbf16>, tensor<12xbf16>, tensor<12x32xbf16>, tensor<32xbf16>, tensor<32x40xbf16>, tensor<40xbf16>, tensor<40x80xbf16>, tensor<80xbf16>, tensor<80x33xbf16>, tensor<33xbf16>) {
  %y, %g:13 = ad.vjp @forward(%x, %w0, %b0, %w1, %b1, %w2, %b2, %w3, %b3, %w4, %b4, %w5, %b5) cotangents(%dy) wrt [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    : (tensor<262144x32xbf16>, tensor<32x112xbf16>, tensor<112xbf16>, tensor<112x12xbf16>, tensor<12xbf16>, tensor<12x32xbf16>, tensor<32xbf16>, tensor<32x40xbf16>, tensor<40xbf16>, tensor<40x80xbf16>, tensor<80xbf16>, tensor<80x33xbf16>, tensor<33xbf16>) -> (tensor<262144x33xbf16>, tensor<262144x32xbf16>, tensor<32x112xbf16>, tensor<112xbf16>, tensor<112x12xbf16>, tensor<12xbf16>, tensor<12x32xbf16>, tensor<32xbf16>, tensor<32x40xbf16>, tensor<40xbf16>, tensor<40x80xbf16>, tensor<80xbf16>, tensor<80x33xbf16>, tensor<33xbf16>)
  return %y, %g#0, %g#1, %g#2, %g#3, %g#4, %g#5, %g#6, %g#7, %g#8, %g#9, %g#10, %g#11, %g#12 : tensor<262144x33xbf16>, tensor<262144x32xbf16>, tensor<32x112xbf16>, tensor<112xbf16>, tensor<112x12xbf16>, tensor<12xbf16>, tensor<12x32xbf16>, tensor<32xbf16>, tensor<32x40xbf16>, tensor<40xbf16>, tensor<40x80xbf16>, tensor<80xbf16>, tensor<80x33xbf16>, tensor<33xbf16>
}

