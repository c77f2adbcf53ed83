// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Rows around each size of tile, and more of them than blocks have tiles.
// RUN: drawloom-run %s --open --target=emulator --entry=score --random --shape=0:0x16 --compare=interpreter
// RUN: drawloom-run %s --open --target=emulator --entry=train --random --shape=0:0x16 --shape=3:0x16 --compare=interpreter
// RUN: drawloom-run %s --open --target=emulator --entry=score --random --shape=0:1x16 --compare=interpreter
// RUN: drawloom-run %s --open --target=emulator --entry=train --random --shape=0:1x16 --shape=3:1x16 --compare=interpreter
// RUN: drawloom-run %s --open --target=emulator --entry=score --random --shape=0:7x16 --compare=interpreter
// RUN: drawloom-run %s --open --target=emulator --entry=train --random --shape=0:7x16 --shape=3:7x16 --compare=interpreter
// RUN: drawloom-run %s --open --target=emulator --entry=score --random --shape=0:8x16 --compare=interpreter
// RUN: drawloom-run %s --open --target=emulator --entry=train --random --shape=0:8x16 --shape=3:8x16 --compare=interpreter
// RUN: drawloom-run %s --open --target=emulator --entry=score --random --shape=0:63x16 --compare=interpreter
// RUN: drawloom-run %s --open --target=emulator --entry=train --random --shape=0:63x16 --shape=3:63x16 --compare=interpreter
// RUN: drawloom-run %s --open --target=emulator --entry=score --random --shape=0:64x16 --compare=interpreter
// RUN: drawloom-run %s --open --target=emulator --entry=train --random --shape=0:64x16 --shape=3:64x16 --compare=interpreter
// RUN: drawloom-run %s --open --target=emulator --entry=score --random --shape=0:65x16 --compare=interpreter
// RUN: drawloom-run %s --open --target=emulator --entry=train --random --shape=0:65x16 --shape=3:65x16 --compare=interpreter
// RUN: drawloom-run %s --open --target=emulator --entry=score --random --shape=0:131x16 --compare=interpreter
// RUN: drawloom-run %s --open --target=emulator --entry=train --random --shape=0:131x16 --shape=3:131x16 --compare=interpreter
// RUN: drawloom-run %s --open --target=emulator --entry=score --random --shape=0:40009x16 --compare=interpreter
// RUN: drawloom-run %s --open --target=emulator --entry=train --random --shape=0:40009x16 --shape=3:40009x16 --compare=interpreter

func.func @score(%x: tensor<?x16xf32>, %w: tensor<16x32xf32>, %v: tensor<32x16xf32>) -> tensor<?x16xf32> {
  %first = arith.constant 0 : index
  %rows = tensor.dim %x, %first : tensor<?x16xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%rows) : tensor<?x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x16xf32>, tensor<16x32xf32>) outs(%start : tensor<?x32xf32>) -> tensor<?x32xf32>
  %p = kan.silu %y : tensor<?x32xf32>
  %empty2 = tensor.empty(%rows) : tensor<?x16xf32>
  %start2 = linalg.fill ins(%zero : f32) outs(%empty2 : tensor<?x16xf32>) -> tensor<?x16xf32>
  %z = linalg.matmul ins(%p, %v : tensor<?x32xf32>, tensor<32x16xf32>) outs(%start2 : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %z : tensor<?x16xf32>
}
func.func private @loss(%x: tensor<?x16xf32>, %w: tensor<16x32xf32>, %v: tensor<32x16xf32>, %t: tensor<?x16xf32>) -> tensor<f32> {
  %z = call @score(%x, %w, %v) : (tensor<?x16xf32>, tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<?x16xf32>
  %l = loss.mse %z, %t : tensor<?x16xf32> -> tensor<f32>
  return %l : tensor<f32>
}
func.func @train(%x: tensor<?x16xf32>, %w: tensor<16x32xf32>, %v: tensor<32x16xf32>, %t: tensor<?x16xf32>) -> (tensor<f32>, tensor<16x32xf32>, tensor<32x16xf32>) {
  %r:3 = ad.value_and_grad @loss(%x, %w, %v, %t) wrt [1, 2] : (tensor<?x16xf32>, tensor<16x32xf32>, tensor<32x16xf32>, tensor<?x16xf32>) -> (tensor<f32>, tensor<16x32xf32>, tensor<32x16xf32>)
  return %r#0, %r#1, %r#2 : tensor<f32>, tensor<16x32xf32>, tensor<32x16xf32>
}
