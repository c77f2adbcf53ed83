// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Fewer samples than inputs: the inputs become the rows, and several regions are fused one after another. What is made where an
// erased op was must not be taken for that: weights had rows in both dimensions then.
// RUN: drawloom-run %s --random --entry=train --target=cuda --compile-to=blocks | FileCheck %s
// CHECK-LABEL: func.func @train(
// CHECK: scf.forall
func.func private @loss(%x: tensor<100x384xbf16>, %t: tensor<100x16xbf16>, %w0: tensor<384x384xbf16>, %b0: tensor<384xbf16>, %w1: tensor<384x50xbf16>, %b1: tensor<50xbf16>, %w2: tensor<50x16xbf16>, %b2: tensor<16xbf16>) -> tensor<f32> {
  %zero = arith.constant 0.0 : bf16
  %e0 = tensor.empty() : tensor<100x384xbf16>
  %c0 = linalg.broadcast ins(%b0 : tensor<384xbf16>) outs(%e0 : tensor<100x384xbf16>) dimensions = [0]
  %s0 = linalg.matmul ins(%x, %w0 : tensor<100x384xbf16>, tensor<384x384xbf16>) outs(%c0 : tensor<100x384xbf16>) -> tensor<100x384xbf16>
  %h0 = kan.tanh %s0 : tensor<100x384xbf16>
  %e1 = tensor.empty() : tensor<100x50xbf16>
  %c1 = linalg.broadcast ins(%b1 : tensor<50xbf16>) outs(%e1 : tensor<100x50xbf16>) dimensions = [0]
  %s1 = linalg.matmul ins(%h0, %w1 : tensor<100x384xbf16>, tensor<384x50xbf16>) outs(%c1 : tensor<100x50xbf16>) -> tensor<100x50xbf16>
  %h1 = kan.tanh %s1 : tensor<100x50xbf16>
  %e2 = tensor.empty() : tensor<100x16xbf16>
  %c2 = linalg.broadcast ins(%b2 : tensor<16xbf16>) outs(%e2 : tensor<100x16xbf16>) dimensions = [0]
  %s2 = linalg.matmul ins(%h1, %w2 : tensor<100x50xbf16>, tensor<50x16xbf16>) outs(%c2 : tensor<100x16xbf16>) -> tensor<100x16xbf16>
  %l = loss.mse %s2, %t : tensor<100x16xbf16> -> tensor<f32>
  return %l : tensor<f32>
}
func.func @train(%x: tensor<100x384xbf16>, %t: tensor<100x16xbf16>, %w0: tensor<384x384xbf16>, %b0: tensor<384xbf16>, %w1: tensor<384x50xbf16>, %b1: tensor<50xbf16>, %w2: tensor<50x16xbf16>, %b2: tensor<16xbf16>) -> (tensor<f32>, tensor<100x384xbf16>, tensor<384x384xbf16>, tensor<384xbf16>, tensor<384x50xbf16>, tensor<50xbf16>, tensor<50x16xbf16>, tensor<16xbf16>) {
  %r:8 = ad.value_and_grad @loss(%x, %t, %w0, %b0, %w1, %b1, %w2, %b2) wrt [0, 2, 3, 4, 5, 6, 7] : (tensor<100x384xbf16>, tensor<100x16xbf16>, tensor<384x384xbf16>, tensor<384xbf16>, tensor<384x50xbf16>, tensor<50xbf16>, tensor<50x16xbf16>, tensor<16xbf16>) -> (tensor<f32>, tensor<100x384xbf16>, tensor<384x384xbf16>, tensor<384xbf16>, tensor<384x50xbf16>, tensor<50xbf16>, tensor<50x16xbf16>, tensor<16xbf16>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7 : tensor<f32>, tensor<100x384xbf16>, tensor<384x384xbf16>, tensor<384xbf16>, tensor<384x50xbf16>, tensor<50xbf16>, tensor<50x16xbf16>, tensor<16xbf16>
}

