// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt --canonicalize %s | FileCheck %s

// Two inserts into one result of a loop of one iteration, and results in another order: upstream's pattern would drop
// the second insert and give the wrong result its place.

// CHECK-LABEL: func @two
// CHECK-SAME: %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>
func.func @two(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<8xf32>, tensor<6xf32>) {
  // CHECK-DAG: %[[E:.*]] = tensor.empty() : tensor<8xf32>
  // CHECK-DAG: %[[D:.*]] = tensor.empty() : tensor<6xf32>
  %e = tensor.empty() : tensor<8xf32>
  %d = tensor.empty() : tensor<6xf32>
  // CHECK-NOT: scf.forall
  // CHECK: %[[S:.*]] = arith.addf %[[A]], %[[B]]
  // CHECK: %[[P:.*]] = tensor.insert_slice %[[S]] into %[[D]][1] [4] [1]
  // CHECK: %[[Q:.*]] = tensor.insert_slice %[[A]] into %[[E]][0] [4] [1]
  // CHECK: %[[R:.*]] = tensor.insert_slice %[[B]] into %[[Q]][4] [4] [1]
  // CHECK: return %[[R]], %[[P]]
  %r:2 = scf.forall (%i) = (1) to (3) step (2) shared_outs(%o = %e, %p = %d) -> (tensor<8xf32>, tensor<6xf32>) {
    %s = arith.addf %a, %b : tensor<4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %p[%i] [4] [1] : tensor<4xf32> into tensor<6xf32>
      tensor.parallel_insert_slice %a into %o[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
      tensor.parallel_insert_slice %b into %o[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
    }
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<6xf32>
}

// Nothing is inserted: the result is what it began with.
// CHECK-LABEL: func @none
// CHECK-SAME: %[[A:.*]]: tensor<4xf32>
func.func @none(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: return %[[A]]
  %r = scf.forall (%i) in (1) shared_outs(%o = %a) -> tensor<4xf32> {
    scf.forall.in_parallel {
    }
  }
  return %r : tensor<4xf32>
}
