// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: drawloom-run %s --random --target=emulator --compare=interpreter | FileCheck %s
// CHECK: : passed
// CHECK-NOT: FAILED

func.func @f(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %e = tensor.empty() : tensor<8x64xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %r = scf.forall (%i) in (2) shared_outs(%o = %e) -> tensor<8x64xf32> {
    %off = arith.muli %i, %c4 : index
    %in = tensor.extract_slice %x[%off,0][4,64][1,1] : tensor<8x64xf32> to tensor<4x64xf32>
    %row = tensor.extract_slice %x[%off,0][1,64][1,1] : tensor<8x64xf32> to tensor<1x64xf32>
    %b = tensor.empty() : tensor<4x64xf32>
    %dbl = arith.addf %in, %in : tensor<4x64xf32>
    %b1 = tensor.insert_slice %dbl into %b[0,0][4,64][1,1] : tensor<4x64xf32> into tensor<4x64xf32>
    %b2 = tensor.insert_slice %row into %b1[3,0][1,64][1,1] : tensor<1x64xf32> into tensor<4x64xf32>
    %p, %q = scf.for %k = %c0 to %c2 step %c1 iter_args(%u = %b2, %v = %b2) -> (tensor<4x64xf32>, tensor<4x64xf32>) {
      %rk = tensor.extract_slice %in[%k,0][1,64][1,1] : tensor<4x64xf32> to tensor<1x64xf32>
      %u2 = tensor.insert_slice %rk into %u[%k,0][1,64][1,1] : tensor<1x64xf32> into tensor<4x64xf32>
      %v2 = tensor.insert_slice %row into %v[2,0][1,64][1,1] : tensor<1x64xf32> into tensor<4x64xf32>
      scf.yield %u2, %v2 : tensor<4x64xf32>, tensor<4x64xf32>
    }
    %fin = arith.addf %p, %q : tensor<4x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %fin into %o[%off,0][4,64][1,1] : tensor<4x64xf32> into tensor<8x64xf32>
    }
  }
  return %r : tensor<8x64xf32>
}
