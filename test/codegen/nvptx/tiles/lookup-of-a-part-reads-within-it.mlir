// RUN: drawloom-run %s --random --target=emulator --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lanes that have no element read another one: of the number that is asked for,
// not of the array that it is a part of.
#rows = affine_map<(n, i) -> (n, i)>
#num = affine_map<(n, i) -> ()>
func.func @f(%x: tensor<37x3xf32>, %p: tensor<4xf32>) -> tensor<37x3xf32> {
  %a = tensor.extract_slice %p[2] [1] [1] : tensor<4xf32> to tensor<f32>
  %e = tensor.empty() : tensor<37x3xf32>
  %r = linalg.generic {indexing_maps = [#rows, #num, #rows], iterator_types = ["parallel", "parallel"]} ins(%x, %a : tensor<37x3xf32>, tensor<f32>) outs(%e : tensor<37x3xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %m = arith.mulf %u, %v : f32
    linalg.yield %m : f32
  } -> tensor<37x3xf32>
  return %r : tensor<37x3xf32>
}
