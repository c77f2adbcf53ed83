// RUN: not drawloom-translate --mlir-to-header %s 2>&1 | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK: error: @f keeps values in a store, which this header's calls do not have: load the file of --mlir-to-artifact, whose calls take one (drawloomUseStore)
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  offload.load %r : !offload.record<tensor<8xf32>>
  %e = tensor.empty() : tensor<8xf32>
  %y = offload.await %r into %e : !offload.record<tensor<8xf32>>, tensor<8xf32> -> tensor<8xf32>
  offload.drop %r : !offload.record<tensor<8xf32>>
  return %y : tensor<8xf32>
}
