// RUN: drawloom-opt %s --plan-memory="bytes=6144 least-bytes=1024" --verify-transfers --verify-semantics | FileCheck %s
// RUN: not drawloom-opt %s --plan-memory="bytes=6144 least-bytes=1024 store=false" 2>&1 | FileCheck %s --check-prefix=AGAIN

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Each value is cheap to compute from the one before it, which has to stay for
// that: half of them are in the way of the others, unless all are stored.

// CHECK-LABEL: func.func @chain
// CHECK-COUNT-4: offload.store
// CHECK-NOT: offload.again
// AGAIN: error: @chain needs a workspace of at least {{[0-9]+}} bytes, most of them here, and may have 6144: give it more memory, or a store (--spill)
func.func @chain(%x: tensor<512xf32>) -> tensor<512xf32> {
  %e = tensor.empty() : tensor<512xf32>
  %a = linalg.tanh ins(%x : tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %b = linalg.tanh ins(%a : tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %c = linalg.tanh ins(%b : tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %d = linalg.tanh ins(%c : tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %f = linalg.tanh ins(%d : tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %g = linalg.tanh ins(%f : tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %h = linalg.mul ins(%g, %f : tensor<512xf32>, tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %i = linalg.mul ins(%h, %d : tensor<512xf32>, tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %j = linalg.mul ins(%i, %c : tensor<512xf32>, tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %k = linalg.mul ins(%j, %b : tensor<512xf32>, tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %l = linalg.mul ins(%k, %a : tensor<512xf32>, tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  return %l : tensor<512xf32>
}
