// RUN: drawloom-translate --mlir-to-assembly --isa=avx2 %s | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Columns are added up some at a time, all rows for each. Copies of the loop over
// rows would take as long to compile as all the rest.

#rows = affine_map<(d0, d1) -> (d1, d0)>
#sum = affine_map<(d0, d1) -> (d0)>
func.func @main(%x: tensor<200x64xf32>, %sum: tensor<64xf32>) -> tensor<64xf32> {
  %y = linalg.generic {indexing_maps = [#rows, #sum], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<200x64xf32>) outs(%sum : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// CHECK-LABEL: drawloom_main:
// CHECK: vaddps
// CHECK: j{{[a-z]+}}
// CHECK-NOT: vaddps
// CHECK: j{{[a-z]+}}
// CHECK-NOT: vaddps
// CHECK: retq
