// RUN: drawloom-opt %s --cpu-tile-and-vectorize=isa=avx2 --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Where no instruction multiplies bf16, factors become f32 once. What one branch
// has made of %w the other cannot use: only one of them runs.
// CHECK-LABEL: func.func @either(
// CHECK-SAME: %[[W:[^:]*]]: tensor<64x64xbf16>)
// CHECK: scf.if
// CHECK: vector.transfer_read %[[W]]
// CHECK-NEXT: arith.extf
// CHECK: vector.contract
// CHECK: } else {
// CHECK: vector.transfer_read %[[W]]
// CHECK-NEXT: arith.extf
// CHECK: vector.contract
func.func @either(%c: i1, %x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = scf.if %c -> (tensor<64x64xf32>) {
    %a = linalg.matmul ins(%x, %w : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %a : tensor<64x64xf32>
  } else {
    %b = linalg.matmul ins(%y, %w : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %b : tensor<64x64xf32>
  }
  return %p : tensor<64x64xf32>
}
