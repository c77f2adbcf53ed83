// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: drawloom-run %s --random --target=emulator --compare=interpreter | FileCheck %s
// CHECK: : passed
// CHECK-NOT: FAILED

#a = affine_map<(m,n,k)->(m,k)>
#b = affine_map<(m,n,k)->(k,n)>
#c = affine_map<(m,n,k)->(m,n)>
func.func @f(%a: tensor<32x32xf32>, %b: tensor<32x32xf32>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %r = linalg.generic {indexing_maps=[#a,#b,#c], iterator_types=["parallel","parallel","reduction"]} ins(%a,%b: tensor<32x32xf32>,tensor<32x32xf32>) outs(%c: tensor<32x32xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %e = math.exp %x : f32
    %m = arith.mulf %e, %y : f32
    %s = arith.addf %z, %m : f32
    linalg.yield %s : f32
  } -> tensor<32x32xf32>
  return %r : tensor<32x32xf32>
}
