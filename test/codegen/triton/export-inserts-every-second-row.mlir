// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-translate --mlir-to-ttir %s | FileCheck %s

// The sum is stored where it belongs, two rows of 64 at a step, when what lies
// in between is there.
// CHECK-LABEL: @sums_0
// CHECK: %[[STEP:.*]] = arith.constant dense<128> : tensor<8x1xi32>
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: %[[Y:.*]] = tt.load
// CHECK: tt.store %{{.*}}, %[[Y]]
// CHECK-NEXT: gpu.barrier
// CHECK: arith.muli %{{.*}}, %[[STEP]]
// CHECK: tt.store %{{.*}}, %[[SUM]]
func.func @sums(%x: tensor<8x64xf32>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %e = tensor.empty() : tensor<8x64xf32>
  %s = linalg.add ins(%x, %x : tensor<8x64xf32>, tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) -> tensor<8x64xf32>
  %r = tensor.insert_slice %s into %y[1, 0] [8, 64] [2, 1] : tensor<8x64xf32> into tensor<16x64xf32>
  return %r : tensor<16x64xf32>
}
