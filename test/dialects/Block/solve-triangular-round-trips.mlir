// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// CHECK-LABEL: @forms
func.func @forms(%a: tensor<16x16xf32>, %b: tensor<16x64xf32>) -> tensor<16x64xf32> {
  // CHECK: block.solve_triangular lower %{{.*}} outs(%{{.*}}) : tensor<16x16xf32> -> tensor<16x64xf32>
  %0 = block.solve_triangular lower %a outs(%b) : tensor<16x16xf32> -> tensor<16x64xf32>
  // CHECK: block.solve_triangular lower transpose unit %
  %1 = block.solve_triangular lower transpose unit %a outs(%0) : tensor<16x16xf32> -> tensor<16x64xf32>
  // CHECK: block.solve_triangular upper unit %
  %2 = block.solve_triangular upper unit %a outs(%1) : tensor<16x16xf32> -> tensor<16x64xf32>
  return %2 : tensor<16x64xf32>
}
