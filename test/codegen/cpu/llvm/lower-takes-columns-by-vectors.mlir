// RUN: drawloom-run %s --random --compare=interpreter
// RUN: drawloom-run %s --compile-to=llvm --isa=avx2 | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A column of one element a row is dense: it is read and written by vectors.
// CHECK-LABEL: llvm.func {{.*}}column
// CHECK-NOT: extractelement
// CHECK: llvm.store {{.*}} : vector<8xf32>
// CHECK-NOT: extractelement
// CHECK: llvm.return
func.func @column(%x: tensor<8x1xf32>, %y: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %z = arith.addf %x, %y : tensor<8x1xf32>
  return %z : tensor<8x1xf32>
}
