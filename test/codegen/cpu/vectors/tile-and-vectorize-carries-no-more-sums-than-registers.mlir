// RUN: drawloom-opt %s --cpu-tile-and-vectorize=isa=avx2 --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sums of 32 KiB would pass through the stack in each iteration: they stay in
// memory. Those of 1 KiB are carried.
// CHECK-LABEL: @few(
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<
// CHECK-LABEL: @many(
// CHECK-NOT: -> (vector<
#rows = affine_map<(d0, d1) -> (d0, d1)>
func.func @few(%x: tensor<64x8xf32>, %s: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%t = %s) -> (tensor<8xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<64x8xf32> to tensor<8xf32>
    %n = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%row : tensor<8xf32>) outs(%t : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<8xf32>
    scf.yield %n : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

func.func @many(%x: tensor<64x8xf32>, %s0: tensor<32x8xf32>, %s1: tensor<32x8xf32>, %s2: tensor<32x8xf32>, %s3: tensor<32x8xf32>, %s4: tensor<32x8xf32>, %s5: tensor<32x8xf32>, %s6: tensor<32x8xf32>, %s7: tensor<32x8xf32>, %s8: tensor<32x8xf32>, %s9: tensor<32x8xf32>, %s10: tensor<32x8xf32>, %s11: tensor<32x8xf32>, %s12: tensor<32x8xf32>, %s13: tensor<32x8xf32>, %s14: tensor<32x8xf32>, %s15: tensor<32x8xf32>, %s16: tensor<32x8xf32>, %s17: tensor<32x8xf32>, %s18: tensor<32x8xf32>, %s19: tensor<32x8xf32>) -> (tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %r:20 = scf.for %i = %c0 to %c64 step %c1 iter_args(%t0 = %s0, %t1 = %s1, %t2 = %s2, %t3 = %s3, %t4 = %s4, %t5 = %s5, %t6 = %s6, %t7 = %s7, %t8 = %s8, %t9 = %s9, %t10 = %s10, %t11 = %s11, %t12 = %s12, %t13 = %s13, %t14 = %s14, %t15 = %s15, %t16 = %s16, %t17 = %s17, %t18 = %s18, %t19 = %s19) -> (tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<64x8xf32> to tensor<8xf32>
    %n0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%row : tensor<8xf32>) outs(%t0 : tensor<32x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<32x8xf32>
    %n1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%row : tensor<8xf32>) outs(%t1 : tensor<32x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<32x8xf32>
    %n2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%row : tensor<8xf32>) outs(%t2 : tensor<32x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<32x8xf32>
    %n3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%row : tensor<8xf32>) outs(%t3 : tensor<32x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<32x8xf32>
    %n4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%row : tensor<8xf32>) outs(%t4 : tensor<32x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<32x8xf32>
    %n5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%row : tensor<8xf32>) outs(%t5 : tensor<32x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<32x8xf32>
    %n6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%row : tensor<8xf32>) outs(%t6 : tensor<32x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<32x8xf32>
    %n7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%row : tensor<8xf32>) outs(%t7 : tensor<32x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<32x8xf32>
    %n8 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%row : tensor<8xf32>) outs(%t8 : tensor<32x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<32x8xf32>
    %n9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%row : tensor<8xf32>) outs(%t9 : tensor<32x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<32x8xf32>
    %n10 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%row : tensor<8xf32>) outs(%t10 : tensor<32x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<32x8xf32>
    %n11 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%row : tensor<8xf32>) outs(%t11 : tensor<32x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<32x8xf32>
    %n12 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%row : tensor<8xf32>) outs(%t12 : tensor<32x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<32x8xf32>
    %n13 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%row : tensor<8xf32>) outs(%t13 : tensor<32x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<32x8xf32>
    %n14 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%row : tensor<8xf32>) outs(%t14 : tensor<32x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<32x8xf32>
    %n15 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%row : tensor<8xf32>) outs(%t15 : tensor<32x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<32x8xf32>
    %n16 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%row : tensor<8xf32>) outs(%t16 : tensor<32x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<32x8xf32>
    %n17 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%row : tensor<8xf32>) outs(%t17 : tensor<32x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<32x8xf32>
    %n18 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%row : tensor<8xf32>) outs(%t18 : tensor<32x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<32x8xf32>
    %n19 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%row : tensor<8xf32>) outs(%t19 : tensor<32x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<32x8xf32>
    scf.yield %n0, %n1, %n2, %n3, %n4, %n5, %n6, %n7, %n8, %n9, %n10, %n11, %n12, %n13, %n14, %n15, %n16, %n17, %n18, %n19 : tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9, %r#10, %r#11, %r#12, %r#13, %r#14, %r#15, %r#16, %r#17, %r#18, %r#19 : tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>, tensor<32x8xf32>
}
