// RUN: %for_each M=0,1,3 N=1,5 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<$Mx$Nxf64>, %o: tensor<$Mx$Nxf64>) -> tensor<$Mx$Nxf64> {
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<$Mx$Nxf64>)
      outs(%o : tensor<$Mx$Nxf64>) {
  ^bb0(%p: f64, %r: f64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %f = arith.sitofp %k : i64 to f64
    %m = arith.mulf %p, %f : f64
    %e = math.sin %m : f64
    linalg.yield %e : f64
  } -> tensor<$Mx$Nxf64>
  return %y : tensor<$Mx$Nxf64>
}

func.func @gradients() {
  check.gradient @f wrt [0]
  return
}
