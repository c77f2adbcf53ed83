// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Written by generate.py: change it there.
//
// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s
// CHECK: scf.forall
//
// MLP 32 -> 64 -> 64 -> 64 -> 64 -> 16, ReLU between the layers: 128 rows, 64 a block.
// No activation of more than 64 rows exists.
#rc = affine_map<(r, c) -> (r, c)>
#c  = affine_map<(r, c) -> (c)>

func.func @mlp_forward(%x: tensor<128x32xf32>, %w0: tensor<32x64xf32>, %b0: tensor<64xf32>, %w1: tensor<64x64xf32>, %b1: tensor<64xf32>, %w2: tensor<64x64xf32>, %b2: tensor<64xf32>, %w3: tensor<64x64xf32>, %b3: tensor<64xf32>, %w4: tensor<64x16xf32>, %b4: tensor<16xf32>) -> tensor<128x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x16xf32>
  %y = scf.forall (%block) in (2) shared_outs(%y_out = %empty) -> (tensor<128x16xf32>) {
      %row = affine.apply affine_map<(i) -> (i * 64)>(%block)
      %h0 = tensor.extract_slice %x[%row, 0] [64, 32] [1, 1] : tensor<128x32xf32> to tensor<64x32xf32>
      %e0 = tensor.empty() : tensor<64x64xf32>
      %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %m0 = linalg.matmul ins(%h0, %w0 : tensor<64x32xf32>, tensor<32x64xf32>) outs(%z0 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %h1 = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]}
          ins(%m0, %b0 : tensor<64x64xf32>, tensor<64xf32>) outs(%e0 : tensor<64x64xf32>) {
      ^bb0(%dot: f32, %bias: f32, %old: f32):
        %sum = arith.addf %dot, %bias : f32
        %positive = arith.cmpf ugt, %sum, %zero : f32
        %relu = arith.select %positive, %sum, %zero : f32
        linalg.yield %relu : f32
      } -> tensor<64x64xf32>
      %e1 = tensor.empty() : tensor<64x64xf32>
      %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %m1 = linalg.matmul ins(%h1, %w1 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z1 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %h2 = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]}
          ins(%m1, %b1 : tensor<64x64xf32>, tensor<64xf32>) outs(%e1 : tensor<64x64xf32>) {
      ^bb0(%dot: f32, %bias: f32, %old: f32):
        %sum = arith.addf %dot, %bias : f32
        %positive = arith.cmpf ugt, %sum, %zero : f32
        %relu = arith.select %positive, %sum, %zero : f32
        linalg.yield %relu : f32
      } -> tensor<64x64xf32>
      %e2 = tensor.empty() : tensor<64x64xf32>
      %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %m2 = linalg.matmul ins(%h2, %w2 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z2 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %h3 = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]}
          ins(%m2, %b2 : tensor<64x64xf32>, tensor<64xf32>) outs(%e2 : tensor<64x64xf32>) {
      ^bb0(%dot: f32, %bias: f32, %old: f32):
        %sum = arith.addf %dot, %bias : f32
        %positive = arith.cmpf ugt, %sum, %zero : f32
        %relu = arith.select %positive, %sum, %zero : f32
        linalg.yield %relu : f32
      } -> tensor<64x64xf32>
      %e3 = tensor.empty() : tensor<64x64xf32>
      %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %m3 = linalg.matmul ins(%h3, %w3 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z3 : tensor<64x64xf32>) -> tensor<64x64xf32>
      %h4 = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]}
          ins(%m3, %b3 : tensor<64x64xf32>, tensor<64xf32>) outs(%e3 : tensor<64x64xf32>) {
      ^bb0(%dot: f32, %bias: f32, %old: f32):
        %sum = arith.addf %dot, %bias : f32
        %positive = arith.cmpf ugt, %sum, %zero : f32
        %relu = arith.select %positive, %sum, %zero : f32
        linalg.yield %relu : f32
      } -> tensor<64x64xf32>
      %e4 = tensor.empty() : tensor<64x16xf32>
      %z4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<64x16xf32>) -> tensor<64x16xf32>
      %m4 = linalg.matmul ins(%h4, %w4 : tensor<64x64xf32>, tensor<64x16xf32>) outs(%z4 : tensor<64x16xf32>) -> tensor<64x16xf32>
      %h5 = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]}
          ins(%m4, %b4 : tensor<64x16xf32>, tensor<16xf32>) outs(%e4 : tensor<64x16xf32>) {
      ^bb0(%dot: f32, %bias: f32, %old: f32):
        %sum = arith.addf %dot, %bias : f32
        linalg.yield %sum : f32
      } -> tensor<64x16xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %h5 into %y_out[%row, 0] [64, 16] [1, 1] : tensor<64x16xf32> into tensor<128x16xf32>
      }
  }
  return %y : tensor<128x16xf32>
}
