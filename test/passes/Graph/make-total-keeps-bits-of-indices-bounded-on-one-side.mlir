// RUN: drawloom-opt %s --make-total | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// %i may be 3 - 2^32, which is 3 in 32 bits.
// CHECK-LABEL: func.func @below
// CHECK-NOT: i32
// CHECK: arith.maxsi {{.*}} : index
// CHECK-NOT: i32
// CHECK: tensor.extract
func.func @below(%x: tensor<8xf32>, %i: index) -> f32 {
  %most = arith.constant 100 : index
  %j = arith.minsi %i, %most : index
  %y = tensor.extract %x[%j] : tensor<8xf32>
  return %y : f32
}
