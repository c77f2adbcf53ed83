// RUN: drawloom-run %s --entry=sums --random --compare=interpreter
// RUN: drawloom-run %s --entry=before --random --compare=interpreter
// RUN: drawloom-run %s --entry=wider --random --compare=interpreter
// RUN: drawloom-run %s --entry=sums --target=emulator --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Along an extent of 1, beside another one.
func.func @sums(%x: tensor<1x64x1xf32>, %init: tensor<1x64x1xf32>) -> tensor<1x64x1xf32> {
  %s = block.scan add reverse %x along 2 outs(%init) : tensor<1x64x1xf32> -> tensor<1x64x1xf32>
  return %s : tensor<1x64x1xf32>
}
func.func @before(%x: tensor<1x64x1xf32>, %init: tensor<1x64x1xf32>) -> tensor<1x64x1xf32> {
  %s = block.scan mul exclusive reverse %x along 2 outs(%init) : tensor<1x64x1xf32> -> tensor<1x64x1xf32>
  return %s : tensor<1x64x1xf32>
}
func.func @wider(%x: tensor<1x64x1xbf16>, %init: tensor<1x64x1xf32>) -> tensor<1x64x1xf32> {
  %s = block.scan max %x along 2 outs(%init) : tensor<1x64x1xbf16> -> tensor<1x64x1xf32>
  return %s : tensor<1x64x1xf32>
}
