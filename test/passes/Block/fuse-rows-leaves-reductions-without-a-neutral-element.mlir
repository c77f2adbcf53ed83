// RUN: drawloom-opt %s --fuse-rows --verify-semantics --remarks-filter=fuse-rows 2>&1 | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is subtracted in turn has no partial results.
// CHECK: remark: {{.}}Missed{{.}} NotFused{{.*}}a reduction over rows whose combination is not known
// CHECK-NOT: scf.forall
#row = affine_map<(r) -> (r)>
#none = affine_map<(r) -> ()>
func.func @subtracted(%x: tensor<4096xf32>, %start: tensor<f32>) -> tensor<f32> {
  %y = linalg.generic {indexing_maps = [#row, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<4096xf32>) outs(%start : tensor<f32>) {
  ^bb0(%v: f32, %acc: f32):
    %s = arith.subf %acc, %v : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}
