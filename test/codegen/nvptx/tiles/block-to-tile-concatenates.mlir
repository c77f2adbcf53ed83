// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-run %s --target=emulator --compile-to=tiles | FileCheck %s
// RUN: drawloom-run %s --random --target=emulator --compare=interpreter | FileCheck %s --check-prefix=VALUES
// VALUES: : passed

// What is read again is put together in shared memory.
// CHECK-LABEL: func.func private @read_0(
// CHECK: %[[ALL:.*]] = tile.alloc : memref<8x5xf32, 3>
// CHECK: %[[LEFT:.*]] = memref.subview %[[ALL]][0, 0] [8, 3] [1, 1]
// CHECK: tile.store %{{.*}}, %[[LEFT]]
// CHECK: %[[RIGHT:.*]] = memref.subview %[[ALL]][0, 3] [8, 2] [1, 1]
// CHECK: tile.store %{{.*}}, %[[RIGHT]]
// CHECK: tile.load %[[ALL]]
func.func @read(%x: tensor<8x3xf32>, %y: tensor<8x2xf32>) -> tensor<8x5xf32> {
  %all = tensor.concat dim(1) %x, %y : (tensor<8x3xf32>, tensor<8x2xf32>) -> tensor<8x5xf32>
  %twice = arith.addf %all, %all : tensor<8x5xf32>
  return %twice : tensor<8x5xf32>
}
