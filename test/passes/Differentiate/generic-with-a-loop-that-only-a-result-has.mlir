// RUN: drawloom-run %s --random --compare=interpreter
// RUN: drawloom-opt %s --differentiate | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ik = affine_map<(i, j, k) -> (i, k)>
#ijk = affine_map<(i, j, k) -> (i, j, k)>

// Only the second result says how far j goes. It is not used, and has no
// cotangent: the gradient is still summed over j.
func.func private @f(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %zero = arith.constant dense<0.0> : tensor<3x5xf32>
  %empty = tensor.empty() : tensor<3x4x5xf32>
  %sum, %all = linalg.generic {indexing_maps = [#ik, #ik, #ijk], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<3x5xf32>) outs(%zero, %empty : tensor<3x5xf32>, tensor<3x4x5xf32>) {
  ^bb0(%a: f32, %s: f32, %e: f32):
    %square = arith.mulf %a, %a : f32
    %next = arith.addf %s, %square : f32
    linalg.yield %next, %square : f32, f32
  } -> (tensor<3x5xf32>, tensor<3x4x5xf32>)
  return %sum : tensor<3x5xf32>
}
// CHECK-LABEL: func.func @gradient
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]} ins({{.*}}tensor<3x4x5xf32>)
func.func @gradient(%x: tensor<3x5xf32>, %c: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %r:2 = ad.vjp @f(%x) cotangents(%c) wrt [0] : (tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>)
  return %r#1 : tensor<3x5xf32>
}
