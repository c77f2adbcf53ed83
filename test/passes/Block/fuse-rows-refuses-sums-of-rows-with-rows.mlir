// RUN: drawloom-opt %s --fuse-rows --verify-semantics --remarks-filter=fuse-rows 2>&1 | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Each row with all rows, of which the result shows one extent only.
// CHECK: remark: {{.}}Missed{{.}} NotFused{{.*}}the op relates rows with rows
// CHECK-NOT: scf.forall
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
func.func @pairs(%x: tensor<4096xf32>, %start: tensor<4096xf32>) -> tensor<4096xf32> {
  %y = linalg.generic {indexing_maps = [#i, #j, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x, %x : tensor<4096xf32>, tensor<4096xf32>) outs(%start : tensor<4096xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %d = arith.subf %a, %b : f32
    %q = arith.mulf %d, %d : f32
    %s = arith.addf %acc, %q : f32
    linalg.yield %s : f32
  } -> tensor<4096xf32>
  return %y : tensor<4096xf32>
}
