// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: drawloom-run %s --random --target=emulator --compare=interpreter | FileCheck %s
// CHECK: : passed
// CHECK-NOT: FAILED

func.func @f(%x: tensor<128x32xf32>, %m: tensor<128x32xi1>) -> tensor<128x32xf32> {
  %e = tensor.empty() : tensor<128x32xf32>
  %r = scf.forall (%i) in (2) shared_outs(%o = %e) -> tensor<128x32xf32> {
    %c = arith.constant 64 : index
    %off = arith.muli %i, %c : index
    %in = tensor.extract_slice %x[%off,0][64,32][1,1] : tensor<128x32xf32> to tensor<64x32xf32>
    %mm = tensor.extract_slice %m[%off,0][64,32][1,1] : tensor<128x32xi1> to tensor<64x32xi1>
    %ei = tensor.empty() : tensor<64x32xf32>
    %s = block.scan add %in along 1 outs(%ei) : tensor<64x32xf32> -> tensor<64x32xf32>
    %d = arith.select %mm, %s, %in : tensor<64x32xi1>, tensor<64x32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %d into %o[%off,0][64,32][1,1] : tensor<64x32xf32> into tensor<128x32xf32>
    }
  }
  return %r : tensor<128x32xf32>
}
