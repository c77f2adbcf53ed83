// RUN: drawloom-run %s --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// %z may be computed in the first result's memory, and be copied before it is
// changed; then the second result is no longer there when it is stored.
func.func @f(%x: tensor<8x5xf32>, %i: index, %j: index) -> (tensor<8x5xf32>, tensor<8x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %z = math.exp %x : tensor<8x5xf32>
  %s = tensor.extract_slice %z[0, %i] [8, 3] [1, 1] : tensor<8x5xf32> to tensor<8x3xf32>
  %some = tensor.empty() : tensor<8x3xf32>
  %columns = linalg.fill ins(%zero : f32) outs(%some : tensor<8x3xf32>) -> tensor<8x3xf32>
  %r = tensor.insert_slice %columns into %z[0, %i] [8, 3] [1, 1] : tensor<8x3xf32> into tensor<8x5xf32>
  %one = tensor.empty() : tensor<1x5xf32>
  %row = linalg.fill ins(%zero : f32) outs(%one : tensor<1x5xf32>) -> tensor<1x5xf32>
  %t = tensor.insert_slice %row into %r[%j, 0] [1, 5] [1, 1] : tensor<1x5xf32> into tensor<8x5xf32>
  return %t, %s : tensor<8x5xf32>, tensor<8x3xf32>
}
