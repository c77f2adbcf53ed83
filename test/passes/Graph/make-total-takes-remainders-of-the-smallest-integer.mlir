// RUN: drawloom-opt %s --make-total --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// x86 has no remainder of the smallest integer by -1: it stops. Here it is
// that by 1.
// CHECK-LABEL: func.func @signed
// CHECK: %[[ZERO:.+]] = arith.cmpi eq, %[[B:.+]], %{{.+}} : i32
// CHECK: %[[SMALLEST:.+]] = arith.cmpi eq, %[[A:.+]], %{{.+}} : i32
// CHECK: %[[MINUS_ONE:.+]] = arith.cmpi eq, %[[B]], %{{.+}} : i32
// CHECK: %[[OVERFLOWS:.+]] = arith.andi %[[SMALLEST]], %[[MINUS_ONE]]
// CHECK: %[[BY_ONE:.+]] = arith.ori %[[ZERO]], %[[OVERFLOWS]]
// CHECK: %[[BY:.+]] = arith.select %[[BY_ONE]], %{{.+}}, %[[B]] : i32
// CHECK: %[[REMAINDER:.+]] = arith.remsi %[[A]], %[[BY]] : i32
// CHECK: arith.select %[[ZERO]], %[[A]], %[[REMAINDER]] : i32
func.func @signed(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %0 = arith.remsi %x, %y : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// No unsigned quotient overflows.
// CHECK-LABEL: func.func @unsigned
// CHECK: %[[ZERO:.+]] = arith.cmpi eq, %[[B:.+]], %{{.+}} : i32
// CHECK-NOT: arith.cmpi
// CHECK: arith.remui
func.func @unsigned(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %0 = arith.remui %x, %y : tensor<4xi32>
  return %0 : tensor<4xi32>
}
