// RUN: drawloom-run %s --entry=transposed --random --compare=interpreter
// RUN: drawloom-run %s --entry=short --random --compare=interpreter
// RUN: drawloom-run %s --entry=short --isa=baseline --random --compare=interpreter
// RUN: drawloom-run %s --entry=scaled --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @transposed(%x: tensor<24x40xf32>) -> tensor<40x24xf32> {
  %e = tensor.empty() : tensor<40x24xf32>
  %t = linalg.transpose ins(%x : tensor<24x40xf32>) outs(%e : tensor<40x24xf32>) permutation = [1, 0]
  return %t : tensor<40x24xf32>
}

func.func @short(%x: tensor<32x16xbf16>) -> tensor<16x32xbf16> {
  %e = tensor.empty() : tensor<16x32xbf16>
  %t = linalg.transpose ins(%x : tensor<32x16xbf16>) outs(%e : tensor<16x32xbf16>) permutation = [1, 0]
  return %t : tensor<16x32xbf16>
}

// A column times rows.
func.func @scaled(%x: tensor<24x40xf32>, %s: tensor<24xf32>) -> tensor<24x40xf32> {
  %e = tensor.empty() : tensor<24x40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%x, %s : tensor<24x40xf32>, tensor<24xf32>) outs(%e : tensor<24x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<24x40xf32>
  return %y : tensor<24x40xf32>
}
