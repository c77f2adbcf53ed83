// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-run %s --random --compare=interpreter
// RUN: drawloom-run %s --random --target=emulator --compare=interpreter

// One block with two inserts into a result, in another order than the results.
func.func @two(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %d = tensor.empty() : tensor<4xf32>
  %r:2 = scf.forall (%i) in (1) shared_outs(%o = %e, %p = %d) -> (tensor<8xf32>, tensor<4xf32>) {
    %s = arith.addf %a, %b : tensor<4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %p[0] [4] [1] : tensor<4xf32> into tensor<4xf32>
      tensor.parallel_insert_slice %a into %o[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
      tensor.parallel_insert_slice %b into %o[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
    }
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<4xf32>
}
