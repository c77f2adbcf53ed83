// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: mkdir -p %t
// RUN: drawloom-run %s --compile-from=blocks --target=emulator --random --spill=%t --compare=interpreter

// The store alone reads what a kernel makes of ops that are no block program.
func.func @f(%x: tensor<8x16xf32>, %y: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %a = tensor.insert_slice %x into %y[4, 0] [8, 16] [1, 1] : tensor<8x16xf32> into tensor<16x16xf32>
  %r = offload.store %a : tensor<16x16xf32> -> !offload.record<tensor<16x16xf32>>
  offload.load %r : !offload.record<tensor<16x16xf32>>
  %e = tensor.empty() : tensor<16x16xf32>
  %b = offload.await %r into %e : !offload.record<tensor<16x16xf32>>, tensor<16x16xf32> -> tensor<16x16xf32>
  offload.drop %r : !offload.record<tensor<16x16xf32>>
  %c = math.exp %b : tensor<16x16xf32>
  return %c : tensor<16x16xf32>
}
