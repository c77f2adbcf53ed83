// RUN: %for_each M=0,1,3 N=1,5 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<$Mx$Nxf64>, %w: tensor<$Nxf64>, %o: tensor<$Mxf64>) -> tensor<$Mxf64> {
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<$Mx$Nxf64>, tensor<$Nxf64>)
      outs(%o : tensor<$Mxf64>) {
  ^bb0(%p: f64, %q: f64, %r: f64):
    %a = math.exp %p : f64
    %b = arith.mulf %a, %q : f64
    %c = arith.maximumf %b, %r : f64
    linalg.yield %c : f64
  } -> tensor<$Mxf64>
  return %y : tensor<$Mxf64>
}

func.func @gradients() {
  check.gradient @f wrt [0, 1, 2]
  return
}
