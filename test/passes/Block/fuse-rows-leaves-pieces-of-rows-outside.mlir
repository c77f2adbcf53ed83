// RUN: drawloom-opt %s --convert-elementwise-to-linalg --fuse-rows --verify-semantics | FileCheck %s
// RUN: drawloom-run %s --entry=rows --random --compare=interpreter
// RUN: drawloom-run %s --entry=one_dimension --random --compare=interpreter
// RUN: drawloom-run %s --entry=minibatch --random --random-integers=0:32 --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The rows of a slice are none of what it is cut from: the slice is taken whole,
// before the blocks.
// CHECK-LABEL: @rows(
// CHECK: tensor.extract_slice %{{.*}}[3, 0] [32, 8] [1, 1]
// CHECK: scf.forall
func.func @rows(%a: tensor<64x8xf32>) -> tensor<32x8xf32> {
  %s = tensor.extract_slice %a[3, 0] [32, 8] [1, 1] : tensor<64x8xf32> to tensor<32x8xf32>
  %y = math.exp %s : tensor<32x8xf32>
  return %y : tensor<32x8xf32>
}

// CHECK-LABEL: @one_dimension(
func.func @one_dimension(%a: tensor<64xf32>) -> tensor<30xf32> {
  %s = tensor.extract_slice %a[5] [30] [1] : tensor<64xf32> to tensor<30xf32>
  %y = math.exp %s : tensor<30xf32>
  return %y : tensor<30xf32>
}

// CHECK-LABEL: @minibatch(
func.func @minibatch(%a: tensor<64x8xf32>, %o: index) -> tensor<32x8xf32> {
  %s = tensor.extract_slice %a[%o, 0] [32, 8] [1, 1] : tensor<64x8xf32> to tensor<32x8xf32>
  %y = math.exp %s : tensor<32x8xf32>
  return %y : tensor<32x8xf32>
}
