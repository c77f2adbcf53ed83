// RUN: %for_each M=0,1,3 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<$Mx3xf64>, %w: tensor<3x5xf64>, %b: tensor<5xf64>, %v: tensor<5x2xf64>) -> tensor<f64> {
  %zero = arith.constant 0.0 : f64
  %e0 = tensor.empty() : tensor<$Mx5xf64>
  %i0 = linalg.fill ins(%zero : f64) outs(%e0 : tensor<$Mx5xf64>)
      -> tensor<$Mx5xf64>
  %h = linalg.matmul ins(%x, %w : tensor<$Mx3xf64>, tensor<3x5xf64>)
      outs(%i0 : tensor<$Mx5xf64>) -> tensor<$Mx5xf64>
  %a = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%h, %b : tensor<$Mx5xf64>, tensor<5xf64>)
      outs(%e0 : tensor<$Mx5xf64>) {
  ^bb0(%p: f64, %q: f64, %r: f64):
    %s = arith.addf %p, %q : f64
    %t = math.tanh %s : f64
    linalg.yield %t : f64
  } -> tensor<$Mx5xf64>
  %e1 = tensor.empty() : tensor<$Mx2xf64>
  %i1 = linalg.fill ins(%zero : f64) outs(%e1 : tensor<$Mx2xf64>)
      -> tensor<$Mx2xf64>
  %y = linalg.matmul ins(%a, %v : tensor<$Mx5xf64>, tensor<5x2xf64>)
      outs(%i1 : tensor<$Mx2xf64>) -> tensor<$Mx2xf64>
  %q = arith.mulf %y, %y : tensor<$Mx2xf64>
  %e2 = tensor.empty() : tensor<f64>
  %i2 = linalg.fill ins(%zero : f64) outs(%e2 : tensor<f64>) -> tensor<f64>
  %l = linalg.reduce { arith.addf } ins(%q : tensor<$Mx2xf64>)
      outs(%i2 : tensor<f64>) dimensions = [0, 1]
  return %l : tensor<f64>
}

func.func @gradients() {
  check.gradient @f wrt [0, 1, 2, 3]
  return
}
