// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Seven runs: each number of threads twice at least.
// RUN: drawloom-run %s --random --check-bits=7 --print | FileCheck %s
// RUN: not drawloom-run %s --random --check-bits=many 2>&1 | FileCheck %s --check-prefix=WRONG

// CHECK: result0: float32[256, 4]
// WRONG: --check-bits option: 'many' value invalid
func.func @twice(%x: tensor<256x4xf32>) -> tensor<256x4xf32> {
  %empty = tensor.empty() : tensor<256x4xf32>
  %y = scf.forall (%i) in (256) shared_outs(%out = %empty) -> (tensor<256x4xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<256x4xf32> to tensor<4xf32>
    %slot = tensor.extract_slice %out[%i, 0] [1, 4] [1, 1] : tensor<256x4xf32> to tensor<4xf32>
    %sum = linalg.add ins(%row, %row : tensor<4xf32>, tensor<4xf32>) outs(%slot : tensor<4xf32>) -> tensor<4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %out[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<256x4xf32>
    }
  }
  return %y : tensor<256x4xf32>
}
