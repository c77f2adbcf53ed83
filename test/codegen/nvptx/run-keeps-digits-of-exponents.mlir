// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: drawloom-run %s --random --target=emulator --compare=interpreter | FileCheck %s
// CHECK: : passed
// CHECK-NOT: FAILED

// Small differences of large numbers, all of them exact in f32: an approximate exponential is no less good for that.
#m = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
func.func @f(%x: tensor<64x128xf32>, %z: tensor<64xf32>) -> tensor<64x128xf32> {
  %e = tensor.empty() : tensor<64x128xf32>
  %0 = linalg.generic {indexing_maps = [#m, #r, #m], iterator_types = ["parallel", "parallel"]} ins(%x, %z : tensor<64x128xf32>, tensor<64xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %c64 = arith.constant 64.0 : f32
    %sixteenth = arith.constant 0.0625 : f32
    %c8192 = arith.constant 8192.0 : f32
    %p64 = arith.mulf %p, %c64 : f32
    %n = math.roundeven %p64 : f32
    %small = arith.mulf %n, %sixteenth : f32
    %q64 = arith.mulf %q, %c64 : f32
    %k = math.roundeven %q64 : f32
    %b = arith.mulf %k, %c8192 : f32
    %a = arith.addf %b, %small : f32
    %d = arith.subf %a, %b : f32
    %y = math.exp %d fastmath<afn> : f32
    linalg.yield %y : f32
  } -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}
