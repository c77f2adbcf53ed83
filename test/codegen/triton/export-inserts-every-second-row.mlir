// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-translate --mlir-to-ttir %s | FileCheck %s

// The blocks of the sum could store it where it belongs, but for the rows that
// lie in between: a second kernel copies it there, two rows of 64 at a step.
// CHECK-LABEL: @sums_1
// CHECK: %[[STEP:.*]] = arith.constant dense<128> : tensor<8x1xi32>
// CHECK: %[[X:.*]] = tt.load
// CHECK: arith.muli %{{.*}}, %[[STEP]]
// CHECK: tt.store %{{.*}}, %[[X]]
func.func @sums(%x: tensor<8x64xf32>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %e = tensor.empty() : tensor<8x64xf32>
  %s = linalg.add ins(%x, %x : tensor<8x64xf32>, tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) -> tensor<8x64xf32>
  %r = tensor.insert_slice %s into %y[1, 0] [8, 64] [2, 1] : tensor<8x64xf32> into tensor<16x64xf32>
  return %r : tensor<16x64xf32>
}
