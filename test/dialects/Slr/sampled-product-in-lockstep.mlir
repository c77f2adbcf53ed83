// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-run %s --entry=elements --random --target=emulator --compare=interpreter | FileCheck %s
// RUN: drawloom-run %s --entry=blocks --random --target=emulator --compare=interpreter | FileCheck %s
// RUN: drawloom-run %s --entry=nothing --random --target=emulator --compare=interpreter | FileCheck %s
// CHECK: : passed

// Where lanes run in step, each stored block is found by a search for its row.
// Rows at both ends and in between have none.
func.func @elements(%x: tensor<37x6xf32>, %g: tensor<37x3xf32>) -> tensor<4x1x1xf32> {
  %row_starts = arith.constant dense<[0, 0, 2, 2, 2, 4, 4]> : tensor<7xi32>
  %columns = arith.constant dense<[0, 2, 1, 2]> : tensor<4xi32>
  %column_starts = arith.constant dense<[0, 1, 2, 4]> : tensor<4xi32>
  %rows = arith.constant dense<[1, 4, 1, 4]> : tensor<4xi32>
  %order = arith.constant dense<[0, 2, 1, 3]> : tensor<4xi32>
  %v = slr.sampled_product %x, %g at (%row_starts, %columns, %column_starts, %rows, %order)
      : tensor<37x6xf32>, tensor<37x3xf32>, (tensor<7xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<4x1x1xf32>
  return %v : tensor<4x1x1xf32>
}

func.func @blocks(%x: tensor<37x12xf32>, %g: tensor<37x9xf32>) -> tensor<4x2x3xf32> {
  %row_starts = arith.constant dense<[0, 0, 2, 2, 2, 4, 4]> : tensor<7xi32>
  %columns = arith.constant dense<[0, 2, 1, 2]> : tensor<4xi32>
  %column_starts = arith.constant dense<[0, 1, 2, 4]> : tensor<4xi32>
  %rows = arith.constant dense<[1, 4, 1, 4]> : tensor<4xi32>
  %order = arith.constant dense<[0, 2, 1, 3]> : tensor<4xi32>
  %v = slr.sampled_product %x, %g at (%row_starts, %columns, %column_starts, %rows, %order)
      : tensor<37x12xf32>, tensor<37x9xf32>, (tensor<7xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<4x2x3xf32>
  return %v : tensor<4x2x3xf32>
}

func.func @nothing(%x: tensor<37x2xf32>, %g: tensor<37x3xf32>) -> tensor<0x2x3xf32> {
  %row_starts = arith.constant dense<0> : tensor<2xi32>
  %none = arith.constant dense<[]> : tensor<0xi32>
  %v = slr.sampled_product %x, %g at (%row_starts, %none, %row_starts, %none, %none)
      : tensor<37x2xf32>, tensor<37x3xf32>, (tensor<2xi32>, tensor<0xi32>, tensor<2xi32>, tensor<0xi32>, tensor<0xi32>) -> tensor<0x2x3xf32>
  return %v : tensor<0x2x3xf32>
}
