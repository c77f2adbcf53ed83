// RUN: %for_each M=0,1,3 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<$Mx3xf64>, %w: tensor<3x4xf64>,
             %a: tensor<1x6xf64>, %b: tensor<2x4xf64>,
             %v: tensor<4x2xf64>, %t: tensor<$Mx2xf64>) -> tensor<f64> {
  %zero = arith.constant 0.0 : f64
  %e0 = tensor.empty() : tensor<$Mx4xf64>
  %i0 = linalg.fill ins(%zero : f64) outs(%e0 : tensor<$Mx4xf64>)
      -> tensor<$Mx4xf64>
  %h = linalg.matmul ins(%x, %w : tensor<$Mx3xf64>, tensor<3x4xf64>)
      outs(%i0 : tensor<$Mx4xf64>) -> tensor<$Mx4xf64>
  %r = kan.rational %h, %a, %b
      : tensor<$Mx4xf64>, tensor<1x6xf64>, tensor<2x4xf64>
  %e1 = tensor.empty() : tensor<$Mx2xf64>
  %i1 = linalg.fill ins(%zero : f64) outs(%e1 : tensor<$Mx2xf64>)
      -> tensor<$Mx2xf64>
  %y = linalg.matmul ins(%r, %v : tensor<$Mx4xf64>, tensor<4x2xf64>)
      outs(%i1 : tensor<$Mx2xf64>) -> tensor<$Mx2xf64>
  %l = loss.mse %y, %t : tensor<$Mx2xf64> -> tensor<f64>
  return %l : tensor<f64>
}

func.func @gradients() {
  check.gradient @f wrt [0, 1, 2, 3, 4, 5]
  return
}
