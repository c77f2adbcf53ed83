// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: drawloom-run %s --entry=train --target=emulator --compile-to=tiles | FileCheck %s
// RUN: drawloom-run %s --entry=train --random --target=emulator --compare=interpreter | FileCheck %s --check-prefix=VALUES

// The gradient of a table of 128 KiB a level, to which rows are added in order, is made where the result is.
// CHECK-NOT: tile.alloc : memref<16384x2xf32
// CHECK: tile.store {{.*}} : tensor<16384x2xf32>, memref<16384x2xf32, strided<[2, 1], offset: ?>>
// CHECK: scf.for
// VALUES-COUNT-2: : passed
func.func private @enc(%x: tensor<40x2xf32>, %t: tensor<2x16384x2xf32>) -> tensor<40x4xf32> {
  %y = kan.grid_encode %x, %t {base_resolution = 16, finest_resolution = 512} : tensor<40x2xf32>, tensor<2x16384x2xf32> -> tensor<40x4xf32>
  return %y : tensor<40x4xf32>
}
func.func @train(%x: tensor<40x2xf32>, %t: tensor<2x16384x2xf32>, %dy: tensor<40x4xf32>) -> (tensor<40x4xf32>, tensor<2x16384x2xf32>) {
  %y, %g = ad.vjp @enc(%x, %t) cotangents(%dy) wrt [1] : (tensor<40x2xf32>, tensor<2x16384x2xf32>) -> (tensor<40x4xf32>, tensor<2x16384x2xf32>)
  return %y, %g : tensor<40x4xf32>, tensor<2x16384x2xf32>
}
