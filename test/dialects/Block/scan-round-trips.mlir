// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// CHECK-LABEL: @kinds
func.func @kinds(%x: tensor<8x4xf32>, %init: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  // CHECK: block.scan add %{{.*}} along 0 outs(%{{.*}}) : tensor<8x4xf32> -> tensor<8x4xf32>
  %0 = block.scan add %x along 0 outs(%init) : tensor<8x4xf32> -> tensor<8x4xf32>
  // CHECK: block.scan mul exclusive %{{.*}} along 1
  %1 = block.scan mul exclusive %x along 1 outs(%init) : tensor<8x4xf32> -> tensor<8x4xf32>
  // CHECK: block.scan max exclusive reverse %{{.*}} along 1
  %2 = block.scan max exclusive reverse %x along 1 outs(%init) : tensor<8x4xf32> -> tensor<8x4xf32>
  return %0, %1, %2 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}

// CHECK-LABEL: @wider
// CHECK: block.scan add reverse %{{.*}} along 0 outs(%{{.*}}) : tensor<8xbf16> -> tensor<8xf32>
func.func @wider(%x: tensor<8xbf16>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %0 = block.scan add reverse %x along 0 outs(%init) : tensor<8xbf16> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
