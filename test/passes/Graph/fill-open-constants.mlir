// RUN: drawloom-opt %s --fill-open-constants --verify-semantics | FileCheck %s
// RUN: drawloom-run %s --shape=0:5x3 --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-DAG: %[[NO:.*]] = arith.constant false
// CHECK-DAG: %[[YES:.*]] = arith.constant true
// CHECK-DAG: %[[NONE:.*]] = arith.constant 0 : i32
// CHECK-DAG: linalg.fill ins(%[[YES]] : i1) outs({{.*}} : tensor<?x3xi1>)
// CHECK-DAG: linalg.fill ins(%[[NO]] : i1) outs({{.*}} : tensor<?x3xi1>)
// CHECK-DAG: linalg.fill ins(%[[NONE]] : i32) outs({{.*}} : tensor<?x3xi32>)
func.func @same(%x: tensor<?x3xi32>) -> (tensor<?x3xi1>, tensor<?x3xi1>, tensor<?x3xi32>) {
  %yes = arith.cmpi sle, %x, %x : tensor<?x3xi32>
  %no = arith.cmpi ne, %x, %x : tensor<?x3xi32>
  %none = arith.xori %x, %x : tensor<?x3xi32>
  return %yes, %no, %none : tensor<?x3xi1>, tensor<?x3xi1>, tensor<?x3xi32>
}
