// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: not drawloom-run %s --target=interpreter --random --shape=0:2x5x2x4 --shape=1:2x4x2x4 2>&1 | FileCheck %s
// RUN: not drawloom-run %s --target=interpreter --random --shape=0:2x5x2x4 --shape=1:3x5x2x4 2>&1 | FileCheck %s --check-prefix=BATCH

// CHECK: error: 'linrec.scan' op k is given with extent 4 in dimension 1, and v asks for 5
// BATCH: error: 'linrec.scan' op k is given with extent 3 in dimension 0, and v asks for 2
func.func @f(%v: tensor<?x?x2x4xf32>, %k: tensor<?x?x2x4xf32>) -> tensor<?x?x2x4xf32> {
  %o, %final = linrec.scan %v, %k, %v
      : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x4x4xf32>)
  return %o : tensor<?x?x2x4xf32>
}
