// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// CHECK-LABEL: @rows
// CHECK: block.gather %{{.*}}[%{{.*}}] outs(%{{.*}}) : tensor<100x64xf32>[tensor<16xi32>] -> tensor<16x64xf32>
func.func @rows(%x: tensor<100x64xf32>, %rows: tensor<16xi32>, %init: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %0 = block.gather %x[%rows] outs(%init) : tensor<100x64xf32>[tensor<16xi32>] -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// CHECK-LABEL: @elements
// CHECK: block.gather {{.*}} : tensor<?xi8>[tensor<4xindex>] -> tensor<4xi8>
func.func @elements(%x: tensor<?xi8>, %rows: tensor<4xindex>, %init: tensor<4xi8>) -> tensor<4xi8> {
  %0 = block.gather %x[%rows] outs(%init) : tensor<?xi8>[tensor<4xindex>] -> tensor<4xi8>
  return %0 : tensor<4xi8>
}
