// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-translate --mlir-to-ttir --compile-from=blocks %s | FileCheck %s

// CHECK: // same_copy_0: 3 programs, 4 warps
// CHECK: %[[LAST:.*]] = arith.constant dense<3000> : tensor<1024xi64>
// CHECK: %[[MASK:.*]] = arith.cmpi slt, %{{.*}}, %[[LAST]]
// CHECK: %[[X:.*]] = tt.load %{{.*}}, %[[MASK]]
// CHECK: tt.store %{{.*}}, %[[X]], %[[MASK]]
// CHECK: // same_copy_1: 3 programs, 4 warps
func.func @same(%x: tensor<3000xf32>) -> (tensor<3000xf32>, tensor<3000xf32>) {
  return %x, %x : tensor<3000xf32>, tensor<3000xf32>
}
