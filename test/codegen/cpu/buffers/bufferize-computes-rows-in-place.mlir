// RUN: drawloom-opt %s --cpu-bufferize | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Both results of a block start from one empty tensor around the loop, and the
// second reads the first: each is computed in its rows of the result.
// CHECK-LABEL: func.func @f
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: return
#rows = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%x: tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %out = tensor.empty() : tensor<64x32xf32>
  %block = tensor.empty() : tensor<16x32xf32>
  %r:2 = scf.forall (%i) = (0) to (64) step (16) shared_outs(%a = %out, %b = %out) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
    %xi = tensor.extract_slice %x[%i, 0] [16, 32] [1, 1] : tensor<64x32xf32> to tensor<16x32xf32>
    %y = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%xi : tensor<16x32xf32>) outs(%block : tensor<16x32xf32>) {
    ^bb0(%v: f32, %o: f32):
      %s = arith.addf %v, %v : f32
      linalg.yield %s : f32
    } -> tensor<16x32xf32>
    %z = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<16x32xf32>) outs(%block : tensor<16x32xf32>) {
    ^bb0(%v: f32, %o: f32):
      %s = arith.mulf %v, %v : f32
      linalg.yield %s : f32
    } -> tensor<16x32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %a[%i, 0] [16, 32] [1, 1] : tensor<16x32xf32> into tensor<64x32xf32>
      tensor.parallel_insert_slice %z into %b[%i, 0] [16, 32] [1, 1] : tensor<16x32xf32> into tensor<64x32xf32>
    }
  }
  return %r#0, %r#1 : tensor<64x32xf32>, tensor<64x32xf32>
}
