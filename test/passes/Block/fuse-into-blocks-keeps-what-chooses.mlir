// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-run %s --entry=chosen --random --random-integers=0:1 --compare=interpreter
// RUN: drawloom-run %s --entry=masked --random --random-integers=0:1 --compare=interpreter

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
// Blocks write half of the rows. What is behind chooses a number of its own for the others, and for all where no row is asked for.
func.func @chosen(%x: tensor<64x48xf32>, %mask: tensor<128xi32>) -> tensor<128x48xf32> {
  %c32 = arith.constant 32 : index
  %empty = tensor.empty() : tensor<128x48xf32>
  %r = scf.forall (%b) in (2) shared_outs(%o = %empty) -> tensor<128x48xf32> {
    %at = arith.muli %b, %c32 : index
    %part = tensor.extract_slice %x[%at, 0] [32, 48] [1, 1] : tensor<64x48xf32> to tensor<32x48xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %part into %o[%at, 0] [32, 48] [1, 1] : tensor<32x48xf32> into tensor<128x48xf32>
    }
  }
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1.0 : f32
  %y = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%r, %mask : tensor<128x48xf32>, tensor<128xi32>) outs(%empty : tensor<128x48xf32>) {
  ^bb0(%e: f32, %k: i32, %o: f32):
    %asked = arith.cmpi ne, %k, %c0 : i32
    %chosen = arith.select %asked, %e, %one : f32
    linalg.yield %chosen : f32
  } -> tensor<128x48xf32>
  return %y : tensor<128x48xf32>
}

// The same by a product: 0 times what no block has written is 0.
func.func @masked(%x: tensor<64x48xi32>, %mask: tensor<128xi32>) -> tensor<128x48xi32> {
  %c32 = arith.constant 32 : index
  %empty = tensor.empty() : tensor<128x48xi32>
  %r = scf.forall (%b) in (2) shared_outs(%o = %empty) -> tensor<128x48xi32> {
    %at = arith.muli %b, %c32 : index
    %part = tensor.extract_slice %x[%at, 0] [32, 48] [1, 1] : tensor<64x48xi32> to tensor<32x48xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %part into %o[%at, 0] [32, 48] [1, 1] : tensor<32x48xi32> into tensor<128x48xi32>
    }
  }
  %zero = arith.constant 0 : i32
  %seven = arith.constant 7 : i32
  %y = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%r, %mask : tensor<128x48xi32>, tensor<128xi32>) outs(%empty : tensor<128x48xi32>) {
  ^bb0(%e: i32, %k: i32, %o: i32):
    %none = arith.muli %k, %zero : i32
    %p = arith.muli %none, %e : i32
    %chosen = arith.addi %p, %seven : i32
    linalg.yield %chosen : i32
  } -> tensor<128x48xi32>
  return %y : tensor<128x48xi32>
}
