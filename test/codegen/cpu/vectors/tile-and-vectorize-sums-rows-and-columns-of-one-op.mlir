// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-run %s --isa=avx2 --random --compare=interpreter
// RUN: drawloom-run %s --isa=baseline --random --compare=interpreter

// Elements, sums of rows and sums of columns at once: no sum stays the same through all loops.
func.func @sums(%x: tensor<8x4x24xf32>) -> (tensor<8x4x24xf32>, tensor<8x4xf32>, tensor<24xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4x24xf32>
  %r = tensor.empty() : tensor<8x4xf32>
  %r0 = linalg.fill ins(%zero : f32) outs(%r : tensor<8x4xf32>) -> tensor<8x4xf32>
  %c = tensor.empty() : tensor<24xf32>
  %c0 = linalg.fill ins(%zero : f32) outs(%c : tensor<24xf32>) -> tensor<24xf32>
  %y:3 = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>,
                       affine_map<(i, j, k) -> (k)>],
      iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%x : tensor<8x4x24xf32>) outs(%e, %r0, %c0 : tensor<8x4x24xf32>, tensor<8x4xf32>, tensor<24xf32>) {
  ^bb0(%a: f32, %o: f32, %s: f32, %t: f32):
    %n = arith.negf %a : f32
    %s1 = arith.addf %s, %a : f32
    %t1 = arith.addf %t, %a : f32
    linalg.yield %n, %s1, %t1 : f32, f32, f32
  } -> (tensor<8x4x24xf32>, tensor<8x4xf32>, tensor<24xf32>)
  return %y#0, %y#1, %y#2 : tensor<8x4x24xf32>, tensor<8x4xf32>, tensor<24xf32>
}
