// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: drawloom-run %s --random --target=emulator --compare=interpreter | FileCheck %s
// RUN: drawloom-run %s --target=emulator --compile-to=tiles | FileCheck %s --check-prefix=DOT
// CHECK-COUNT-4: : passed
// CHECK-NOT: FAILED

// Batches of whole instructions are one product each, whatever the order of the right operand; of 24 rows there is no
// such product.
// DOT-LABEL: func.func private @f
// DOT-DAG: tile.dot {{.*}} transpose_b, {{.*}} {batch = 4 : i64}
// DOT-DAG: tile.dot {{.*}} {batch = 2 : i64}
// DOT-DAG: tile.dot {{.*}} {batch = 8 : i64}
// DOT-NOT: tile.dot
#a = affine_map<(b, m, n, k) -> (b, m, k)>
#t = affine_map<(b, m, n, k) -> (b, n, k)>
#b = affine_map<(b, m, n, k) -> (b, k, n)>
#c = affine_map<(b, m, n, k) -> (b, m, n)>
func.func @f(%a: tensor<4x16x32xbf16>, %b: tensor<4x24x32xbf16>, %c: tensor<4x16x24xf32>, %d: tensor<2x64x32xbf16>, %e: tensor<2x32x40xbf16>,
             %g: tensor<8x32x16xbf16>, %h: tensor<8x16x8xbf16>, %i: tensor<2x24x16xbf16>, %j: tensor<2x16x8xbf16>)
    -> (tensor<4x16x24xf32>, tensor<2x64x40xf32>, tensor<8x32x8xf32>, tensor<2x24x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.batch_matmul indexing_maps = [#a, #t, #c] ins(%a, %b : tensor<4x16x32xbf16>, tensor<4x24x32xbf16>) outs(%c : tensor<4x16x24xf32>) -> tensor<4x16x24xf32>
  %e1 = tensor.empty() : tensor<2x64x40xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2x64x40xf32>) -> tensor<2x64x40xf32>
  %1 = linalg.batch_matmul ins(%d, %e : tensor<2x64x32xbf16>, tensor<2x32x40xbf16>) outs(%z1 : tensor<2x64x40xf32>) -> tensor<2x64x40xf32>
  %e2 = tensor.empty() : tensor<8x32x8xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<8x32x8xf32>) -> tensor<8x32x8xf32>
  %2 = linalg.batch_matmul ins(%g, %h : tensor<8x32x16xbf16>, tensor<8x16x8xbf16>) outs(%z2 : tensor<8x32x8xf32>) -> tensor<8x32x8xf32>
  %e3 = tensor.empty() : tensor<2x24x8xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<2x24x8xf32>) -> tensor<2x24x8xf32>
  %3 = linalg.batch_matmul ins(%i, %j : tensor<2x24x16xbf16>, tensor<2x16x8xbf16>) outs(%z3 : tensor<2x24x8xf32>) -> tensor<2x24x8xf32>
  return %0, %1, %2, %3 : tensor<4x16x24xf32>, tensor<2x64x40xf32>, tensor<8x32x8xf32>, tensor<2x24x8xf32>
}
