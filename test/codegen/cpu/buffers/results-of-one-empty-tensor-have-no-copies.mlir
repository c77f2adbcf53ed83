// RUN: drawloom-run %s --compile-to=buffers | FileCheck %s
// RUN: drawloom-run %s --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Both results of the loop start from one empty tensor; each is computed where
// the caller wants it.
// CHECK-LABEL: func.func @train
// CHECK-NOT: memref.alloc{{.*}}memref<512x96xf32>
// CHECK-NOT: memref.copy{{.*}}memref<512x96xf32>
// CHECK: return
func.func private @forward(%x: tensor<512x96xf32>, %a: tensor<8x6xf32>, %b: tensor<8x4xf32>) -> tensor<512x96xf32> {
  %y = kan.rational %x, %a, %b form(abs_sum) : tensor<512x96xf32>, tensor<8x6xf32>, tensor<8x4xf32>
  return %y : tensor<512x96xf32>
}
func.func @train(%x: tensor<512x96xf32>, %dy: tensor<512x96xf32>, %a: tensor<8x6xf32>, %b: tensor<8x4xf32>) -> (tensor<512x96xf32>, tensor<512x96xf32>, tensor<8x6xf32>, tensor<8x4xf32>) {
  %y, %dx, %da, %db = ad.vjp @forward(%x, %a, %b) cotangents(%dy) wrt [0, 1, 2] : (tensor<512x96xf32>, tensor<8x6xf32>, tensor<8x4xf32>) -> (tensor<512x96xf32>, tensor<512x96xf32>, tensor<8x6xf32>, tensor<8x4xf32>)
  return %y, %dx, %da, %db : tensor<512x96xf32>, tensor<512x96xf32>, tensor<8x6xf32>, tensor<8x4xf32>
}
