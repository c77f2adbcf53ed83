// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s
// RUN: drawloom-opt %s --mlir-print-op-generic | drawloom-opt | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-LABEL: func.func @values
func.func @values(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[R:.*]] = offload.store %{{.*}} : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  // CHECK: offload.load %[[R]] : !offload.record<tensor<8xf32>>
  offload.load %r : !offload.record<tensor<8xf32>>
  %e = tensor.empty() : tensor<8xf32>
  // CHECK: offload.await %[[R]] into %{{.*}} : !offload.record<tensor<8xf32>>, tensor<8xf32> -> tensor<8xf32>
  %y = offload.await %r into %e : !offload.record<tensor<8xf32>>, tensor<8xf32> -> tensor<8xf32>
  // CHECK: offload.drop %[[R]] : !offload.record<tensor<8xf32>>
  offload.drop %r : !offload.record<tensor<8xf32>>
  // CHECK: offload.again %{{.*}} copy 1 : tensor<8xf32>
  %z = offload.again %x copy 1 : tensor<8xf32>
  return %y, %z : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @memory
func.func @memory(%x: memref<8xf32>, %y: memref<8xf32>) {
  // CHECK: %[[R:.*]] = offload.store %{{.*}} : memref<8xf32> -> !offload.record<tensor<8xf32>>
  %r = offload.store %x : memref<8xf32> -> !offload.record<tensor<8xf32>>
  // CHECK: offload.await %[[R]] into %{{.*}} : !offload.record<tensor<8xf32>>, memref<8xf32>
  offload.await %r into %y : !offload.record<tensor<8xf32>>, memref<8xf32>
  return
}
