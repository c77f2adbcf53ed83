// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-outline-kernels --nvptx-plan-launches | FileCheck %s
// RUN: drawloom-run %s --random --target=emulator --compare=interpreter

// Blocks that leave rows of their result as they were start from a copy: an argument is not changed.
// CHECK: drawloom.plan
// CHECK-SAME: \22steps\22:[{\22copy_bytes\22:4096,\22operands\22:{{\[\[}}\22argument\22,0],[\22result\22,0]]},{\22kernel\22:\22f_0\22
func.func @f(%x: tensor<4x256xf32>) -> tensor<4x256xf32> {
  %c = scf.forall (%b) in (2) shared_outs(%o = %x) -> (tensor<4x256xf32>) {
    %r = tensor.extract_slice %o[%b, 0] [1, 256] [1, 1] : tensor<4x256xf32> to tensor<256xf32>
    %s = arith.addf %r, %r : tensor<256xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%b, 0] [1, 256] [1, 1] : tensor<256xf32> into tensor<4x256xf32>
    }
  }
  return %c : tensor<4x256xf32>
}
