// RUN: drawloom-opt %s --cpu-tile-and-vectorize=isa=avx2 --cpu-verify-vectors | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sums of four heads are one vector, where they are known to lie within a row.
// CHECK-LABEL: func.func @heads
// CHECK: vector.multi_reduction <add>, %{{.*}}, %{{.*}} {block.within_rows} [1] : vector<4x16xf32> to vector<4xf32>
// CHECK-NOT: vector.multi_reduction
// CHECK-LABEL: func.func @rows
func.func @heads(%x: tensor<8x4x16xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4xf32>
  %y = scf.forall (%i) in (8) shared_outs(%o = %e) -> tensor<8x4xf32> {
    %s = tensor.extract_slice %x[%i, 0, 0] [1, 4, 16] [1, 1, 1] : tensor<8x4x16xf32> to tensor<4x16xf32>
    %t = tensor.empty() : tensor<4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%t : tensor<4xf32>) -> tensor<4xf32>
    %r = linalg.reduce { arith.addf } ins(%s : tensor<4x16xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %r into %o[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
    }
  } {block.within_rows}
  return %y : tensor<8x4xf32>
}

// The four rows may be all that there are: others get tiles of another size.
// CHECK-NOT: block.within_rows
// CHECK-COUNT-4: vector.multi_reduction <add>, %{{.*}}, %{{.*}} [0] : vector<16xf32> to f32
func.func @rows(%x: tensor<8x4x16xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4xf32>
  %y = scf.forall (%i) in (8) shared_outs(%o = %e) -> tensor<8x4xf32> {
    %s = tensor.extract_slice %x[%i, 0, 0] [1, 4, 16] [1, 1, 1] : tensor<8x4x16xf32> to tensor<4x16xf32>
    %t = tensor.empty() : tensor<4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%t : tensor<4xf32>) -> tensor<4xf32>
    %r = linalg.reduce { arith.addf } ins(%s : tensor<4x16xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %r into %o[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
    }
  }
  return %y : tensor<8x4xf32>
}
