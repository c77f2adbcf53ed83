// RUN: drawloom-opt %s --nvptx-outline-kernels --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A function may have the name that another one's kernel would get, so names do not say whose kernel it is.
// CHECK: func.func private @f_0_0({{.*}}drawloom.kernel_of = "f"
// CHECK: func.func @f(
// CHECK: func.func private @f_0_0_1({{.*}}drawloom.kernel_of = "f_0"
// CHECK: func.func @f_0(
func.func @f(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %empty = tensor.empty() : tensor<8x4xf32>
  %y = scf.forall (%i) in (8) shared_outs(%whole = %empty) -> tensor<8x4xf32> {
    %row = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<1x4xf32>
    %twice = arith.addf %row, %row : tensor<1x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %twice into %whole[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
    }
  }
  return %y : tensor<8x4xf32>
}
func.func @f_0(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %empty = tensor.empty() : tensor<8x4xf32>
  %y = scf.forall (%i) in (8) shared_outs(%whole = %empty) -> tensor<8x4xf32> {
    %row = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<1x4xf32>
    %square = arith.mulf %row, %row : tensor<1x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %square into %whole[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
    }
  }
  return %y : tensor<8x4xf32>
}
