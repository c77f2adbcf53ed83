// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// 4,104 rows are 256 tiles of 16 and a rest of 8. Partial sums of all blocks take 256 x 64 KiB: no block holds them.
// RUN: drawloom-run %s --random --target=emulator --compile-to=shared | FileCheck %s
// CHECK: func.func private @train_1{{.*}}memref<256x128x128xf32>
// CHECK-NOT: memref<{{[0-9]+}}x128x128xf32, 3>
func.func private @forward(%x: tensor<4104x128xf32>, %w: tensor<128x128xf32>) -> tensor<4104x128xf32> {
  %zero = arith.constant dense<0.0> : tensor<4104x128xf32>
  %s = linalg.matmul ins(%x, %w : tensor<4104x128xf32>, tensor<128x128xf32>) outs(%zero : tensor<4104x128xf32>) -> tensor<4104x128xf32>
  %h = kan.relu %s : tensor<4104x128xf32>
  return %h : tensor<4104x128xf32>
}
func.func @train(%x: tensor<4104x128xf32>, %dy: tensor<4104x128xf32>, %w: tensor<128x128xf32>) -> (tensor<4104x128xf32>, tensor<128x128xf32>)
    attributes {drawloom.tile_bytes = 40000} {
  %y, %g = ad.vjp @forward(%x, %w) cotangents(%dy) wrt [1]
    : (tensor<4104x128xf32>, tensor<128x128xf32>) -> (tensor<4104x128xf32>, tensor<128x128xf32>)
  return %y, %g : tensor<4104x128xf32>, tensor<128x128xf32>
}
