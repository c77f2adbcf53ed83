// RUN: drawloom-opt %s --promote-accumulators --verify-semantics | FileCheck %s
// RUN: drawloom-run %s --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>)
#n = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
func.func @f(%x: tensor<4x6xbf16>, %o: tensor<4xbf16>, %p: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xbf16>) {
  %y:2 = linalg.generic {indexing_maps = [#n, #r, #r], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x6xbf16>) outs(%o, %p : tensor<4xbf16>, tensor<4xbf16>) {
  ^bb0(%a: bf16, %s: bf16, %t: bf16):
    %q = arith.mulf %a, %a : bf16
    %u = arith.addf %s, %a : bf16
    %v = arith.addf %t, %q : bf16
    linalg.yield %u, %v : bf16, bf16
  } -> (tensor<4xbf16>, tensor<4xbf16>)
  return %y#0, %y#1 : tensor<4xbf16>, tensor<4xbf16>
}
