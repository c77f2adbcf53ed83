// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// CHECK-LABEL: @both
// CHECK: block.scatter %{{.*}} into %{{.*}}[%{{.*}}] : tensor<16x64xf32> into tensor<100x64xf32>[tensor<16xi32>]
// CHECK: block.scatter accumulate %{{.*}} into %{{.*}}[%{{.*}}] : tensor<16x64xf32> into tensor<100x64xf32>[tensor<16xi32>]
func.func @both(%tile: tensor<16x64xf32>, %rows: tensor<16xi32>, %y: tensor<100x64xf32>) -> tensor<100x64xf32> {
  %0 = block.scatter %tile into %y[%rows] : tensor<16x64xf32> into tensor<100x64xf32>[tensor<16xi32>]
  %1 = block.scatter accumulate %tile into %0[%rows] : tensor<16x64xf32> into tensor<100x64xf32>[tensor<16xi32>]
  return %1 : tensor<100x64xf32>
}
