// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: drawloom-run %s --random --target=emulator --compare=interpreter | FileCheck %s
// CHECK: : passed
// CHECK-NOT: FAILED

func.func @f(%x: tensor<4194312xf32>) -> tensor<4x512xf32> {
  %e = tensor.empty() : tensor<4x512xf32>
  %c = arith.constant 1048577 : index
  %r = scf.forall (%i) in (4) shared_outs(%o = %e) -> tensor<4x512xf32> {
    %off = arith.muli %i, %c : index
    %in = tensor.extract_slice %x[%off][512][1] : tensor<4194312xf32> to tensor<512xf32>
    %d = arith.addf %in, %in : tensor<512xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %d into %o[%i,0][1,512][1,1] : tensor<512xf32> into tensor<4x512xf32>
    }
  }
  return %r : tensor<4x512xf32>
}
