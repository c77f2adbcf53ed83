// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: drawloom-run %s --random --target=emulator --compare=interpreter | FileCheck %s
// CHECK: : passed
// CHECK-NOT: FAILED

#id = affine_map<(a,b)->(a,b)>
#rr = affine_map<(a,b)->(a)>
func.func @f(%x: tensor<8x64xf32>) -> tensor<8xf32> {
  %z = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8xf32>
  %f1 = linalg.fill ins(%z: f32) outs(%e: tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.generic {indexing_maps=[#id,#rr], iterator_types=["parallel","reduction"]} ins(%x: tensor<8x64xf32>) outs(%f1: tensor<8xf32>) {
  ^bb0(%p: f32, %q: f32):
    %l = math.sqrt %p : f32
    %g = arith.maxnumf %l, %q : f32
    linalg.yield %g : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
