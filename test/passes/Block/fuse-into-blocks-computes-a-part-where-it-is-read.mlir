// RUN: drawloom-opt %s --fuse-into-blocks --canonicalize --verify-semantics | FileCheck %s
// RUN: drawloom-opt %s --fuse-into-blocks --verify-semantics -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#all = affine_map<(t, h, d) -> (t, h, d)>
#row = affine_map<(t, h, d) -> (t, h)>
#ij = affine_map<(t, h) -> (t, h)>

// Rows of a head are divided by their length where a block reads them: neither the sums of squares nor the quotients are whole tensors.
// CHECK-LABEL: func.func @normalized
// CHECK-NOT: linalg.generic
// CHECK: scf.forall (%[[H:.*]]) in (2)
// CHECK: %[[OWN:.*]] = tensor.extract_slice %arg0[0, %[[H]], 0] [8, 1, 4] [1, 1, 1] : tensor<8x2x4xf32> to tensor<8x4xf32>
// CHECK: scf.for %[[AT:[a-z0-9]+]] =
// CHECK: %[[X:.*]] = tensor.extract_slice %[[OWN]][%[[AT]], 0] [2, 4] [1, 1] : tensor<8x4xf32> to tensor<2x4xf32>
// CHECK: %[[START:.*]] = linalg.fill {{.*}} -> tensor<2xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}"parallel", "reduction"]} ins(%[[X]] : tensor<2x4xf32>) outs(%[[START]] : tensor<2xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[SUM]] : tensor<2xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[X]], %{{.*}} : tensor<2x4xf32>, tensor<2xf32>)
// CHECK: tensor.insert_slice
func.func @normalized(%x: tensor<8x2x4xf32>) -> tensor<8x2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %rows = tensor.empty() : tensor<8x2xf32>
  %start = linalg.fill ins(%zero : f32) outs(%rows : tensor<8x2xf32>) -> tensor<8x2xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<8x2x4xf32>) outs(%start : tensor<8x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %square = arith.mulf %in, %in : f32
    %more = arith.addf %out, %square : f32
    linalg.yield %more : f32
  } -> tensor<8x2xf32>
  %root = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%sum : tensor<8x2xf32>) outs(%rows : tensor<8x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = math.rsqrt %in : f32
    linalg.yield %r : f32
  } -> tensor<8x2xf32>
  %empty = tensor.empty() : tensor<8x2x4xf32>
  %unit = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %root : tensor<8x2x4xf32>, tensor<8x2xf32>) outs(%empty : tensor<8x2x4xf32>) {
  ^bb0(%in: f32, %r: f32, %out: f32):
    %y = arith.mulf %in, %r : f32
    linalg.yield %y : f32
  } -> tensor<8x2x4xf32>
  %y = scf.forall (%h) in (2) shared_outs(%all = %empty) -> tensor<8x2x4xf32> {
    %own = tensor.extract_slice %unit[0, %h, 0] [8, 1, 4] [1, 1, 1] : tensor<8x2x4xf32> to tensor<8x4xf32>
    %into = tensor.extract_slice %all[0, %h, 0] [8, 1, 4] [1, 1, 1] : tensor<8x2x4xf32> to tensor<8x4xf32>
    %scaled = scf.for %at = %c0 to %c8 step %c2 iter_args(%so_far = %into) -> tensor<8x4xf32> {
      %tile = tensor.extract_slice %own[%at, 0] [2, 4] [1, 1] : tensor<8x4xf32> to tensor<2x4xf32>
      %twice = arith.addf %tile, %tile : tensor<2x4xf32>
      %more = tensor.insert_slice %twice into %so_far[%at, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<8x4xf32>
      scf.yield %more : tensor<8x4xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %scaled into %all[0, %h, 0] [8, 1, 4] [1, 1, 1] : tensor<8x4xf32> into tensor<8x2x4xf32>
    }
  }
  return %y : tensor<8x2x4xf32>
}

// A result that the caller gets is in memory anyway.
// CHECK-LABEL: func.func @returned
// CHECK: %[[P:.*]] = linalg.generic
// CHECK: scf.forall
// CHECK: tensor.extract_slice %[[P]]
func.func @returned(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %empty = tensor.empty() : tensor<8x4xf32>
  %p = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x4xf32>) outs(%empty : tensor<8x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = math.exp %in : f32
    linalg.yield %r : f32
  } -> tensor<8x4xf32>
  %y = scf.forall (%i) in (8) shared_outs(%all = %empty) -> tensor<8x4xf32> {
    %row = tensor.extract_slice %p[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<1x4xf32>
    %twice = arith.addf %row, %row : tensor<1x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %twice into %all[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
    }
  }
  return %p, %y : tensor<8x4xf32>, tensor<8x4xf32>
}
