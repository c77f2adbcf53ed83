// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --decompose-graph | FileCheck %s

// CHECK-LABEL: @f
// CHECK-SAME: (%[[X:.*]]: tensor<100x64xf32>, %[[ROWS:.*]]: tensor<16xi32>
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %c16 step %{{.*}} iter_args(%[[TILE:.*]] = %
// CHECK: %[[ROW:.*]] = tensor.extract %[[ROWS]][%[[I]]]
// CHECK: %[[AT:.*]] = arith.index_cast %[[ROW]]
// CHECK: %[[NAMED:.*]] = arith.cmpi sge, %[[AT]], %c0
// CHECK: scf.if %[[NAMED]]
// CHECK: tensor.extract_slice %[[X]][%[[AT]], 0] [1, 64] [1, 1] : tensor<100x64xf32> to tensor<64xf32>
// CHECK: linalg.copy
// CHECK: tensor.insert_slice %{{.*}} into %[[TILE]][%[[I]], 0]
// CHECK: else
// CHECK: linalg.fill ins(%cst : f32)
// CHECK-NOT: block.
func.func @f(%x: tensor<100x64xf32>, %rows: tensor<16xi32>, %init: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %0 = block.gather %x[%rows] outs(%init) : tensor<100x64xf32>[tensor<16xi32>] -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}
