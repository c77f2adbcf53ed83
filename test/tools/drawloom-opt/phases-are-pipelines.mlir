// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What drawloom-run does up to a phase, drawloom-opt does by the pipelines of the phases, for each target.
// RUN: drawloom-opt %s --phase-differentiated --phase-structured --phase-blocks --phase-vectors --phase-buffers --phase-kernels --phase-llvm -o %t.opt
// RUN: drawloom-run %s --entry=gradient --compile-to=llvm | drawloom-opt -o %t.run
// RUN: diff %t.run %t.opt
// RUN: drawloom-opt %s --phase-differentiated=target=cuda --phase-structured=target=cuda --phase-blocks=target=cuda --phase-tiles --phase-layouts --phase-shared --phase-llvm=target=cuda -o %t.opt
// RUN: drawloom-run %s --entry=gradient --target=cuda --isa=sm_80 --dense-products=own --compile-to=llvm | drawloom-opt -o %t.run
// RUN: diff %t.run %t.opt

// A printed pipeline can be given again.
// RUN: drawloom-opt %s --phase-structured="target=cuda isa=sm_90a" --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s
// CHECK: decompose-graph{block-bytes=232448 lockstep=true processors=132
// CHECK: merge-elementwise{for-derivatives=false}
func.func private @loss(%x: tensor<64x16xf32>, %w: tensor<16x8xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  %start = arith.constant dense<0.0> : tensor<f32>
  %z = linalg.matmul ins(%x, %w : tensor<64x16xf32>, tensor<16x8xf32>) outs(%zero : tensor<64x8xf32>) -> tensor<64x8xf32>
  %p = kan.silu %z : tensor<64x8xf32>
  %l = linalg.reduce { arith.addf } ins(%p : tensor<64x8xf32>) outs(%start : tensor<f32>) dimensions = [0, 1]
  return %l : tensor<f32>
}
func.func @gradient(%x: tensor<64x16xf32>, %w: tensor<16x8xf32>) -> (tensor<f32>, tensor<16x8xf32>) {
  %loss, %dw = ad.value_and_grad @loss(%x, %w) wrt [1] : (tensor<64x16xf32>, tensor<16x8xf32>) -> (tensor<f32>, tensor<16x8xf32>)
  return %loss, %dw : tensor<f32>, tensor<16x8xf32>
}
