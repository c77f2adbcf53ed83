// RUN: drawloom-opt %s --promote-accumulators --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A linalg.contract multiplies its operands as they are: one whose body takes
// exponentials of them first stays a linalg.generic, and only its sum is wide.
// CHECK-LABEL: func.func @f
// CHECK-NOT: linalg.contract
// CHECK: linalg.generic {{.*}}"reduction"]} {{.*}} outs(%{{.*}} : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%[[A:.*]]: bf16, %[[B:.*]]: bf16, %[[SUM:.*]]: f32):
// CHECK-NEXT: %[[E:.*]] = math.exp %[[A]] : bf16
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[E]], %[[B]] : bf16
// CHECK-NEXT: %[[TERM:.*]] = arith.extf %[[P]] : bf16 to f32
// CHECK-NEXT: arith.addf %[[SUM]], %[[TERM]] : f32
// CHECK-NOT: linalg.contract
func.func @f(%a: tensor<4x16xbf16>, %b: tensor<16x8xbf16>, %start: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  %c = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x16xbf16>, tensor<16x8xbf16>) outs(%start : tensor<4x8xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %sum: bf16):
    %e = math.exp %x : bf16
    %p = arith.mulf %e, %y : bf16
    %n = arith.addf %sum, %p : bf16
    linalg.yield %n : bf16
  } -> tensor<4x8xbf16>
  return %c : tensor<4x8xbf16>
}
