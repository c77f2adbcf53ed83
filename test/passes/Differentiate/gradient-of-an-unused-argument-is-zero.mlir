// RUN: drawloom-opt %s --differentiate --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: f32, %z: tensor<3xf32>) -> f32 {
  return %x : f32
}

// CHECK-LABEL: func.func @df
// CHECK: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[E:.+]] = tensor.empty() : tensor<3xf32>
// CHECK: %[[D:.+]] = linalg.fill ins(%[[ZERO]] : f32) outs(%[[E]] : tensor<3xf32>)
// CHECK: return %[[D]]
func.func @df(%x: f32, %z: tensor<3xf32>) -> tensor<3xf32> {
  %y, %dz = ad.value_and_grad @f(%x, %z) wrt [1]
      : (f32, tensor<3xf32>) -> (f32, tensor<3xf32>)
  return %dz : tensor<3xf32>
}
