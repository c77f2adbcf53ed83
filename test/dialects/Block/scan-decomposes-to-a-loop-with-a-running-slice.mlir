// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --decompose-graph | FileCheck %s

// CHECK-LABEL: @exclusive_reverse
// CHECK: %[[START:.*]] = linalg.fill ins(%cst : f32) outs(%{{.*}} : tensor<64xf32>)
// CHECK: scf.for %[[STEP:.*]] = %c0 to %c16 step %c1 iter_args(%[[RUNNING:.*]] = %[[START]], %[[OUT:.*]] = %
// CHECK: %[[AT:.*]] = arith.subi %c15, %[[STEP]]
// CHECK: linalg.generic {{.*}} outs(%[[RUNNING]], %{{.*}} : tensor<64xf32>, tensor<64xf32>)
// CHECK: ^bb0(%[[X:.*]]: f32, %[[BEFORE:.*]]: f32, %{{.*}}: f32):
// CHECK: %[[NEXT:.*]] = arith.addf %[[BEFORE]], %[[X]]
// CHECK: linalg.yield %[[NEXT]], %[[BEFORE]]
// CHECK: tensor.insert_slice %{{.*}}#1 into %[[OUT]][%[[AT]], 0]
// CHECK-NOT: block.
func.func @exclusive_reverse(%x: tensor<16x64xf32>, %init: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %0 = block.scan add exclusive reverse %x along 0 outs(%init) : tensor<16x64xf32> -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}
