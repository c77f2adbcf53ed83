// RUN: drawloom-opt %s --place-transfers="operations=1e9 memory=1e9 read=1e9" | FileCheck %s
// RUN: drawloom-opt %s --place-transfers="operations=1e9 memory=1e9 read=1e7" | FileCheck %s --check-prefix=SLOW

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// An op on 1024 numbers moves 8 KiB, twice what a record of 4 KiB takes: of two
// that are awaited at one step, the first load is in front of the step before,
// where the link is fast enough, and no load is in front of its store.

// CHECK-LABEL: func.func @two
// CHECK: %[[R:.*]] = offload.store
// CHECK: %[[S:.*]] = offload.store
// CHECK: math.exp
// CHECK: math.sin
// CHECK-NEXT: offload.load %[[R]]
// CHECK-NEXT: offload.load %[[S]]
// CHECK-NEXT: math.cos
// CHECK: offload.await %[[R]]
// CHECK: offload.await %[[S]]

// SLOW-LABEL: func.func @two
// SLOW: %[[R:.*]] = offload.store
// SLOW-NEXT: offload.load %[[R]]
// SLOW: %[[S:.*]] = offload.store
// SLOW-NEXT: offload.load %[[S]]
// SLOW: math.exp

func.func @two(%x: tensor<1024xf32>) -> (tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>) {
  %r = offload.store %x : tensor<1024xf32> -> !offload.record<tensor<1024xf32>>
  %s = offload.store %x : tensor<1024xf32> -> !offload.record<tensor<1024xf32>>
  %a = math.exp %x : tensor<1024xf32>
  %b = math.sin %a : tensor<1024xf32>
  %c = math.cos %b : tensor<1024xf32>
  %e = tensor.empty() : tensor<1024xf32>
  offload.load %r : !offload.record<tensor<1024xf32>>
  %y = offload.await %r into %e : !offload.record<tensor<1024xf32>>, tensor<1024xf32> -> tensor<1024xf32>
  %f = tensor.empty() : tensor<1024xf32>
  offload.load %s : !offload.record<tensor<1024xf32>>
  %z = offload.await %s into %f : !offload.record<tensor<1024xf32>>, tensor<1024xf32> -> tensor<1024xf32>
  offload.drop %r : !offload.record<tensor<1024xf32>>
  offload.drop %s : !offload.record<tensor<1024xf32>>
  return %c, %y, %z : tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>
}
