// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --bind-extents --verify-semantics | FileCheck %s

// A sum reads what it starts from; an op that only writes gets memory of its own.
// CHECK-LABEL: @f(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x4xf32> {{.*}}, %[[Y:[a-z0-9]*]]: tensor<?xf32>
// CHECK: %[[SUM:.*]] = linalg.reduce { arith.addf } ins(%[[X]] : tensor<?x4xf32>) outs(%[[Y]] : tensor<?xf32>)
// CHECK: %[[OWN:.*]] = tensor.empty(
// CHECK: linalg.exp ins(%[[SUM]] : tensor<?xf32>) outs(%[[OWN]] : tensor<?xf32>)
func.func @f(%x: tensor<?x4xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<?x4xf32>) outs(%y : tensor<?xf32>) dimensions = [1]
  %e = linalg.exp ins(%sum : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %e : tensor<?xf32>
}
