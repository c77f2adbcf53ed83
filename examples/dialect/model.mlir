// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A layer with an op of the dialect outside, and its gradients.
func.func @layer(%x: tensor<?x8xf32> {drawloom.name = "x"}, %w: tensor<8x16xf32> {drawloom.name = "w"})
    -> (tensor<f32> {drawloom.name = "loss"}) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x8xf32>
  %empty = tensor.empty(%rows) : tensor<?x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x16xf32>) -> tensor<?x16xf32>
  %h = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x16xf32>) outs(%zeros : tensor<?x16xf32>) -> tensor<?x16xf32>
  %y = smooth.softsign %h : tensor<?x16xf32>
  %loss = loss.mse %y, %zeros : tensor<?x16xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

func.func @gradient(%x: tensor<?x8xf32> {drawloom.name = "x"}, %w: tensor<8x16xf32> {drawloom.name = "w"})
    -> (tensor<f32> {drawloom.name = "loss"}, tensor<8x16xf32> {drawloom.name = "dw"}) {
  %loss, %dw = ad.value_and_grad @layer(%x, %w) wrt [1] : (tensor<?x8xf32>, tensor<8x16xf32>) -> (tensor<f32>, tensor<8x16xf32>)
  return %loss, %dw : tensor<f32>, tensor<8x16xf32>
}
