// RUN: %for_each M=0,1,3 N=1,5 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<$Mx$Nxf64>, %o: tensor<$Mx$Nxf64>, %q: tensor<$Nxf64>, %t: tensor<f64>) -> (tensor<$Mx$Nxf64>, tensor<$Nxf64>, tensor<f64>) {
  %y:3 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> ()>],
      iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<$Mx$Nxf64>)
      outs(%o, %q, %t : tensor<$Mx$Nxf64>, tensor<$Nxf64>, tensor<f64>) {
  ^bb0(%a: f64, %b: f64, %c: f64, %d: f64):
    %e = math.exp %a : f64
    %s = arith.addf %c, %e : f64
    %m = arith.mulf %e, %a : f64
    %u = arith.addf %d, %m : f64
    linalg.yield %e, %s, %u : f64, f64, f64
  } -> (tensor<$Mx$Nxf64>, tensor<$Nxf64>, tensor<f64>)
  return %y#0, %y#1, %y#2 : tensor<$Mx$Nxf64>, tensor<$Nxf64>, tensor<f64>
}

func.func @gradients() {
  check.gradient @f wrt [0, 2, 3]
  return
}
