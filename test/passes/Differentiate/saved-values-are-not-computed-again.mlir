// RUN: drawloom-opt %s --differentiate --ad-take-saved --canonicalize | FileCheck %s
// Before, numbers are those that are computed, on both sides of a comparison by differences.
// RUN: drawloom-opt %s --differentiate --verify-semantics -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @exp(%x: tensor<8xf32>, %kept: tensor<8xf32>) -> tensor<8xf32> {
  %e = math.exp %x : tensor<8xf32>
  %y = ad.saved %e as %kept : tensor<8xf32>
  return %y : tensor<8xf32>
}

// The derivative of exp is exp, which was kept: x is not read.
// CHECK-LABEL: func.func @pull_back
// CHECK-SAME: (%[[X:.+]]: tensor<8xf32>, %[[KEPT:.+]]: tensor<8xf32>, %[[G:.+]]: tensor<8xf32>)
// CHECK-NEXT: %[[DX:.+]] = arith.mulf %[[G]], %[[KEPT]]
// CHECK-NEXT: return %[[DX]]
func.func @pull_back(%x: tensor<8xf32>, %kept: tensor<8xf32>, %g: tensor<8xf32>) -> tensor<8xf32> {
  %y, %dx = ad.vjp @exp(%x, %kept) cotangents(%g) wrt [0] : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %dx : tensor<8xf32>
}

func.func private @first(%x: tensor<8xf32>, %kept: tensor<8xf32>, %g: tensor<8xf32>) -> tensor<8xf32> {
  %y, %dx = ad.vjp @exp(%x, %kept) cotangents(%g) wrt [0] : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %dx : tensor<8xf32>
}

// The second derivative goes through what was computed, and is not zero.
// CHECK-LABEL: func.func @twice
// CHECK-SAME: (%[[X:.+]]: tensor<8xf32>, %[[KEPT:.+]]: tensor<8xf32>, %[[G:.+]]: tensor<8xf32>, %[[H:.+]]: tensor<8xf32>)
// CHECK-NOT: math.exp
// CHECK: arith.mulf {{.*}}%[[KEPT]]
// CHECK: return
func.func @twice(%x: tensor<8xf32>, %kept: tensor<8xf32>, %g: tensor<8xf32>, %h: tensor<8xf32>) -> tensor<8xf32> {
  %dx, %ddx = ad.vjp @first(%x, %kept, %g) cotangents(%h) wrt [0] : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %ddx : tensor<8xf32>
}

// No derivative, no computation.
// CHECK-LABEL: func.func @forward
// CHECK-NEXT: return %{{.*}} : tensor<8xf32>
func.func @forward(%x: tensor<8xf32>, %kept: tensor<8xf32>) -> tensor<8xf32> {
  %e = math.exp %x : tensor<8xf32>
  %y = ad.saved %e as %kept : tensor<8xf32>
  return %y : tensor<8xf32>
}

// Where a branch that saves is not taken, nothing says that both are the same.
// CHECK-LABEL: func.func @branch
// CHECK-SAME: (%{{.+}}: i1, %{{.+}}: f32, %[[KEPT:.+]]: f32)
// CHECK: %[[E:.+]] = math.exp
// CHECK: %[[Y:.+]] = scf.if
// CHECK-NEXT: scf.yield %[[KEPT]] : f32
// CHECK: arith.negf %[[E]]
// CHECK: return %[[Y]], %[[Y]], %[[E]]
func.func @branch(%c: i1, %x: f32, %kept: f32) -> (f32, f32, f32) {
  %e = math.exp %x : f32
  %y:2 = scf.if %c -> (f32, f32) {
    %s = ad.saved %e as %kept : f32
    scf.yield %s, %e : f32, f32
  } else {
    %n = arith.negf %e : f32
    scf.yield %n, %n : f32, f32
  }
  return %y#0, %y#1, %e : f32, f32, f32
}
