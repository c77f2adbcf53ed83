// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: drawloom-run %s --random --target=emulator --compare=interpreter | FileCheck %s
// CHECK-COUNT-4: : passed
// CHECK-NOT: FAILED

// Each needs more than the 227 KiB of a block at full depth: of f32, of bf16 transposed on either side with steps and
// columns that are no multiples of anything, and of a width that has no divisor.
#a = affine_map<(m, n, k) -> (m, k)>
#at = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @f(%a: tensor<16x900xf32>, %b: tensor<900x64xf32>, %d: tensor<12x3001xbf16>, %e: tensor<28x3001xbf16>,
             %g: tensor<4000x16xbf16>, %h: tensor<4000x24xbf16>, %i: tensor<8x250xbf16>, %j: tensor<250x509xbf16>)
    -> (tensor<16x64xf32>, tensor<12x28xf32>, tensor<16x24xf32>, tensor<8x509xf32>) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<16x64xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<16x64xf32>) -> tensor<16x64xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<16x900xf32>, tensor<900x64xf32>) outs(%z0 : tensor<16x64xf32>) -> tensor<16x64xf32>
  %e1 = tensor.empty() : tensor<12x28xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<12x28xf32>) -> tensor<12x28xf32>
  %1 = linalg.matmul indexing_maps = [#a, #bt, #c] ins(%d, %e : tensor<12x3001xbf16>, tensor<28x3001xbf16>) outs(%z1 : tensor<12x28xf32>) -> tensor<12x28xf32>
  %e2 = tensor.empty() : tensor<16x24xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<16x24xf32>) -> tensor<16x24xf32>
  %2 = linalg.matmul indexing_maps = [#at, #b, #c] ins(%g, %h : tensor<4000x16xbf16>, tensor<4000x24xbf16>) outs(%z2 : tensor<16x24xf32>) -> tensor<16x24xf32>
  %e3 = tensor.empty() : tensor<8x509xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<8x509xf32>) -> tensor<8x509xf32>
  %3 = linalg.matmul ins(%i, %j : tensor<8x250xbf16>, tensor<250x509xbf16>) outs(%z3 : tensor<8x509xf32>) -> tensor<8x509xf32>
  return %0, %1, %2, %3 : tensor<16x64xf32>, tensor<12x28xf32>, tensor<16x24xf32>, tensor<8x509xf32>
}
