// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-outline-kernels --verify-semantics | FileCheck %s

// The sum behind the blocks is a kernel of its own; the function calls both.
// CHECK-LABEL: func.func private @f_0(
// CHECK-SAME: attributes {drawloom.kernel, drawloom.kernel_of = "f"}
// CHECK: scf.forall
// CHECK-LABEL: func.func private @f_1(
// CHECK-SAME: tensor<4x8xf32>) -> tensor<8xf32> attributes {drawloom.kernel, drawloom.kernel_of = "f"}
// The fill is repeated where it is used.
// CHECK: linalg.fill
// CHECK: linalg.reduce
// CHECK-LABEL: func.func @f(
// CHECK: %[[PARTS:.*]] = call @f_0(%{{.*}}) : (tensor<32x8xf32>) -> tensor<4x8xf32>
// CHECK: %[[SUM:.*]] = call @f_1(%[[PARTS]]) : (tensor<4x8xf32>) -> tensor<8xf32>
// CHECK: return %[[SUM]]
func.func @f(%x: tensor<32x8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %parts_empty = tensor.empty() : tensor<4x8xf32>
  %parts = scf.forall (%block) in (4) shared_outs(%out = %parts_empty) -> (tensor<4x8xf32>) {
    %row = tensor.extract_slice %x[%block, 0] [1, 8] [1, 1] : tensor<32x8xf32> to tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %out[%block, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
    }
  }
  %sum_empty = tensor.empty() : tensor<8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%sum_empty : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.reduce ins(%parts : tensor<4x8xf32>) outs(%start : tensor<8xf32>) dimensions = [0]
    (%a: f32, %b: f32) {
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    }
  return %sum : tensor<8xf32>
}
