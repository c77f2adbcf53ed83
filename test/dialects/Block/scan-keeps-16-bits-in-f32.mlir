// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --decompose-graph --verify-semantics | FileCheck %s

// CHECK-LABEL: @sums
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (tensor<64xf32>, tensor<16x64xbf16>)
// CHECK: %[[X:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: %[[NEXT:.*]] = arith.addf %{{.*}}, %[[X]] : f32
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[NEXT]] : f32 to bf16
// CHECK: linalg.yield %[[NEXT]], %[[ROUNDED]] : f32, bf16
func.func @sums(%x: tensor<16x64xbf16>) -> tensor<16x64xbf16> {
  %init = tensor.empty() : tensor<16x64xbf16>
  %0 = block.scan add %x along 0 outs(%init) : tensor<16x64xbf16> -> tensor<16x64xbf16>
  return %0 : tensor<16x64xbf16>
}

// One element needs no loop: what the result holds of it is rounded already.
// CHECK-LABEL: @single
// CHECK: arith.truncf
func.func @single(%x: tensor<1x64xf16>) -> tensor<1x64xf16> {
  %init = tensor.empty() : tensor<1x64xf16>
  %0 = block.scan add %x along 0 outs(%init) : tensor<1x64xf16> -> tensor<1x64xf16>
  return %0 : tensor<1x64xf16>
}
