// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: bf16) -> tensor<4x6xbf16> {
  %y = tensor.splat %x : tensor<4x6xbf16>
  return %y : tensor<4x6xbf16>
}

func.func @df(%x: bf16, %g: tensor<4x6xbf16>) -> bf16 {
  %y, %dx = ad.vjp @f(%x) cotangents(%g) wrt [0]
      : (bf16) -> (tensor<4x6xbf16>, bf16)
  return %dx : bf16
}

// CHECK-LABEL: func.func @df
// CHECK-SAME: (%[[ARG0:.+]]: bf16, %[[ARG1:.+]]: tensor<4x6xbf16>) -> bf16
// CHECK: %[[V0:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[V1:.+]] = arith.extf %[[ARG1]] : tensor<4x6xbf16> to tensor<4x6xf32>
// CHECK: %[[V2:.+]] = tensor.empty() : tensor<f32>
// CHECK: %[[V3:.+]] = linalg.fill ins(%[[V0]] : f32) outs(%[[V2]] : tensor<f32>) -> tensor<f32>
// CHECK: %[[V4:.+]] = linalg.reduce ins(%[[V1]] : tensor<4x6xf32>) outs(%[[V3]] : tensor<f32>) dimensions = [0, 1]
// CHECK: (%[[V5:.+]]: f32, %[[V6:.+]]: f32) {
// CHECK: %[[V7:.+]] = arith.addf %[[V5]], %[[V6]] : f32
// CHECK: linalg.yield %[[V7]] : f32
// CHECK: %[[V8:.+]] = tensor.extract %[[V4]][] : tensor<f32>
// CHECK: %[[V9:.+]] = arith.truncf %[[V8]] : f32 to bf16
// CHECK: return %[[V9]] : bf16
