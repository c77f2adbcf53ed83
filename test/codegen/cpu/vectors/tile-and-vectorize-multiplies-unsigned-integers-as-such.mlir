// RUN: drawloom-opt %s --cpu-tile-and-vectorize=isa=avx2 | FileCheck %s
// RUN: drawloom-run %s --random --random-integers=-100:100 --compare=interpreter
// RUN: drawloom-run %s --isa=avx2 --random --random-integers=-100:100 --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Bytes above 127 are no negative numbers here: 200 * 2 is 400. A contraction
// would extend them by their sign.
// CHECK-LABEL: func.func @product
// CHECK-NOT: arith.extsi
// CHECK: arith.extui
// CHECK-NOT: arith.extsi
// CHECK: return
func.func @product(%a: tensor<16x32xi8>, %b: tensor<32x16xi8>) -> tensor<16x16xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<16x16xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<16x16xi32>) -> tensor<16x16xi32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<16x32xi8>, tensor<32x16xi8>) outs(%f : tensor<16x16xi32>) {
  ^bb0(%x: i8, %y: i8, %o: i32):
    %u = arith.extui %x : i8 to i32
    %v = arith.extui %y : i8 to i32
    %m = arith.muli %u, %v : i32
    %s = arith.addi %o, %m : i32
    linalg.yield %s : i32
  } -> tensor<16x16xi32>
  return %p : tensor<16x16xi32>
}
