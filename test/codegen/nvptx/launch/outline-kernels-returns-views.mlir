// RUN: drawloom-opt %s --nvptx-outline-kernels | FileCheck %s
// RUN: drawloom-run %s --entry=reshaped --random --target=emulator --compare=interpreter
// RUN: drawloom-run %s --entry=twice --random --target=emulator --compare=interpreter
// RUN: drawloom-run %s --entry=others --random --target=emulator --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What blocks have written is returned under another shape where it is: nothing copies it.
// CHECK: func.func private @reshaped_0
// CHECK-NOT: func.func private @reshaped_1
// CHECK: func.func @reshaped(
// CHECK: %[[MADE:.*]] = call @reshaped_0
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[MADE]]
// CHECK: return %[[FLAT]]
func.func @reshaped(%x: tensor<4x32xf32>) -> tensor<128xf32> {
  %out = tensor.empty() : tensor<4x32xf32>
  %y = scf.forall (%i) in (4) shared_outs(%o = %out) -> (tensor<4x32xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 32] [1, 1] : tensor<4x32xf32> to tensor<32xf32>
    %twice = arith.addf %row, %row : tensor<32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %twice into %o[%i, 0] [1, 32] [1, 1] : tensor<32xf32> into tensor<4x32xf32>
    }
  }
  %flat = tensor.collapse_shape %y [[0, 1]] : tensor<4x32xf32> into tensor<128xf32>
  return %flat : tensor<128xf32>
}

// One memory cannot be two results.
func.func @twice(%x: tensor<4x32xf32>) -> (tensor<128xf32>, tensor<4x32xf32>) {
  %out = tensor.empty() : tensor<4x32xf32>
  %y = scf.forall (%i) in (4) shared_outs(%o = %out) -> (tensor<4x32xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 32] [1, 1] : tensor<4x32xf32> to tensor<32xf32>
    %twice = arith.addf %row, %row : tensor<32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %twice into %o[%i, 0] [1, 32] [1, 1] : tensor<32xf32> into tensor<4x32xf32>
    }
  }
  %flat = tensor.collapse_shape %y [[0, 1]] : tensor<4x32xf32> into tensor<128xf32>
  return %flat, %y : tensor<128xf32>, tensor<4x32xf32>
}

// Views of an argument, and of what no block has written.
func.func @others(%x: tensor<4x32xf32>) -> (tensor<128xf32>, tensor<8x8xf32>) {
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<4x32xf32> into tensor<128xf32>
  %one = arith.constant 1.0 : f32
  %empty = tensor.empty() : tensor<64xf32>
  %ones = linalg.fill ins(%one : f32) outs(%empty : tensor<64xf32>) -> tensor<64xf32>
  %square = tensor.expand_shape %ones [[0, 1]] output_shape [8, 8] : tensor<64xf32> into tensor<8x8xf32>
  return %flat, %square : tensor<128xf32>, tensor<8x8xf32>
}
