// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// Rows of the left buffer and columns of the right one beyond the result's are padding.
// CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} : memref<80x32xbf16, 3>, memref<32x16xbf16, 3>, tensor<70x8xf32>
func.func @f(%a: memref<80x32xbf16, 3>, %b: memref<32x16xbf16, 3>, %c: tensor<70x8xf32>) -> tensor<70x8xf32> {
  %d = tile.dot %a, %b, %c : memref<80x32xbf16, 3>, memref<32x16xbf16, 3>, tensor<70x8xf32>
  return %d : tensor<70x8xf32>
}
