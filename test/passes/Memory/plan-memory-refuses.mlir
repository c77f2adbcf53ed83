// RUN: drawloom-opt %s --plan-memory="bytes=3000 least-bytes=1024 store=false" --verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<512xf32>) -> tensor<512xf32> {
  %e = tensor.empty() : tensor<512xf32>
  %a = linalg.exp ins(%x : tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  // expected-error @below {{@f needs a workspace of at least 4096 bytes, most of them here, and may have 3000: give it more memory, or a store (--spill)}}
  %b = linalg.exp ins(%a : tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %c = linalg.mul ins(%a, %b : tensor<512xf32>, tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  return %c : tensor<512xf32>
}
