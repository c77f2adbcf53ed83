// RUN: drawloom-opt %s --decompose-graph | FileCheck %s
// RUN: drawloom-opt %s --decompose-graph=lockstep=true | FileCheck %s --check-prefix=LOCKSTEP
// RUN: drawloom-opt %s --differentiate=lockstep=true | FileCheck %s --check-prefix=GRADIENT

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Of eight functions four differ from 0: their values, and the number of the
// first, which is from 0 to 4.
// CHECK-LABEL: func.func @many
// CHECK-DAG: %[[FIRST:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[LAST:.*]] = arith.constant 4 : i32
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<?x2xi32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>)
// CHECK-NOT: linalg.matmul
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
// Where lanes run in step, all are multiplied.
// LOCKSTEP-LABEL: func.func @many
// LOCKSTEP-NOT: i32
// LOCKSTEP: tensor.concat dim(1) {{.*}} -> tensor<?x16xf32>
// LOCKSTEP: linalg.matmul
func.func @many(%x: tensor<?x2xf32>, %c: tensor<8x2x3xf32>, %d: tensor<2xf32>) -> tensor<?x3xf32> {
  %y = kan.edge_layer %x, %c by uniform_bspline order 3 (%d : tensor<2xf32>) : tensor<?x2xf32>, tensor<8x2x3xf32> -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

// Of seven all are multiplied, side by side.
// CHECK-LABEL: func.func @few
// CHECK: tensor.concat dim(1) {{.*}} -> tensor<?x14xf32>
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<7x2x3xf32> into tensor<14x3xf32>
// CHECK: linalg.matmul
func.func @few(%x: tensor<?x2xf32>, %c: tensor<7x2x3xf32>, %d: tensor<2xf32>) -> tensor<?x3xf32> {
  %y = kan.edge_layer %x, %c by uniform_bspline order 3 (%d : tensor<2xf32>) : tensor<?x2xf32>, tensor<7x2x3xf32> -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

// A width of its own on every edge: one loop nest.
// CHECK-LABEL: func.func @edges
// CHECK-NOT: linalg.matmul
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]}
func.func @edges(%x: tensor<?x2xf32>, %c: tensor<1x2x3xf32>, %t: tensor<1x2x3xf32>, %s: tensor<1xf32>) -> tensor<?x3xf32> {
  %y = kan.edge_layer %x, %c by gaussian (%t, %s : tensor<1x2x3xf32>, tensor<1xf32>) : tensor<?x2xf32>, tensor<1x2x3xf32> -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

// A gradient is of the same form.
// GRADIENT-LABEL: func.func @gradient
// GRADIENT-NOT: i32
// GRADIENT: tensor.concat dim(1) {{.*}} -> tensor<5x16xf32>
// GRADIENT-NOT: drawloom.machine
func.func @gradient(%x: tensor<5x2xf32>, %c: tensor<8x2x3xf32>, %d: tensor<2xf32>, %g: tensor<5x3xf32>) -> tensor<8x2x3xf32> {
  %y, %dc = ad.vjp @known(%x, %c, %d) cotangents(%g) wrt [1] : (tensor<5x2xf32>, tensor<8x2x3xf32>, tensor<2xf32>) -> (tensor<5x3xf32>, tensor<8x2x3xf32>)
  return %dc : tensor<8x2x3xf32>
}
func.func private @known(%x: tensor<5x2xf32>, %c: tensor<8x2x3xf32>, %d: tensor<2xf32>) -> tensor<5x3xf32> {
  %y = kan.edge_layer %x, %c by uniform_bspline order 3 (%d : tensor<2xf32>) : tensor<5x2xf32>, tensor<8x2x3xf32> -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}
