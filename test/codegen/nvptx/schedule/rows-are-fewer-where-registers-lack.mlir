// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tiles of the ordinary 72 KiB would lack more than 56 registers in this step: those of half of it are predicted to be faster.
// RUN: drawloom-run %s --random --entry=train --target=emulator --compile-to=blocks | FileCheck %s
// CHECK: func.func @train({{.*}}drawloom.tile_bytes = 36864
func.func private @forward(%x: tensor<4096x64xf16>, %w0: tensor<64x64xf16>, %b0: tensor<64xf16>, %n0: tensor<8x6xf16>, %d0: tensor<8x4xf16>, %w1: tensor<64x64xf16>, %b1: tensor<64xf16>) -> tensor<4096x64xf16> {
  %e0 = tensor.empty() : tensor<4096x64xf16>
  %c0 = linalg.broadcast ins(%b0 : tensor<64xf16>) outs(%e0 : tensor<4096x64xf16>) dimensions = [0]
  %s0 = linalg.matmul ins(%x, %w0 : tensor<4096x64xf16>, tensor<64x64xf16>) outs(%c0 : tensor<4096x64xf16>) -> tensor<4096x64xf16>
  %h0 = kan.rational %s0, %n0, %d0 form(abs_sum) : tensor<4096x64xf16>, tensor<8x6xf16>, tensor<8x4xf16>
  %e1 = tensor.empty() : tensor<4096x64xf16>
  %c1 = linalg.broadcast ins(%b1 : tensor<64xf16>) outs(%e1 : tensor<4096x64xf16>) dimensions = [0]
  %s1 = linalg.matmul ins(%h0, %w1 : tensor<4096x64xf16>, tensor<64x64xf16>) outs(%c1 : tensor<4096x64xf16>) -> tensor<4096x64xf16>
  return %s1 : tensor<4096x64xf16>
}
func.func @train(%x: tensor<4096x64xf16>, %dy: tensor<4096x64xf16>, %w0: tensor<64x64xf16>, %b0: tensor<64xf16>, %n0: tensor<8x6xf16>, %d0: tensor<8x4xf16>, %w1: tensor<64x64xf16>, %b1: tensor<64xf16>) -> (tensor<4096x64xf16>, tensor<4096x64xf16>, tensor<64x64xf16>, tensor<64xf16>, tensor<8x6xf16>, tensor<8x4xf16>, tensor<64x64xf16>, tensor<64xf16>) {
  %y, %g:7 = ad.vjp @forward(%x, %w0, %b0, %n0, %d0, %w1, %b1) cotangents(%dy) wrt [0, 1, 2, 3, 4, 5, 6]
    : (tensor<4096x64xf16>, tensor<64x64xf16>, tensor<64xf16>, tensor<8x6xf16>, tensor<8x4xf16>, tensor<64x64xf16>, tensor<64xf16>) -> (tensor<4096x64xf16>, tensor<4096x64xf16>, tensor<64x64xf16>, tensor<64xf16>, tensor<8x6xf16>, tensor<8x4xf16>, tensor<64x64xf16>, tensor<64xf16>)
  return %y, %g#0, %g#1, %g#2, %g#3, %g#4, %g#5, %g#6 : tensor<4096x64xf16>, tensor<4096x64xf16>, tensor<64x64xf16>, tensor<64xf16>, tensor<8x6xf16>, tensor<8x4xf16>, tensor<64x64xf16>, tensor<64xf16>
}

