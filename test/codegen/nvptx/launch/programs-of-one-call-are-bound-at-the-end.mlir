// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-run %s --target=emulator --random --shape=0:77x8 --compile-to=llvm | FileCheck %s
// RUN: drawloom-run %s --target=emulator --random --shape=0:77x8 --compare=interpreter

// It is the program for any number of rows, so that it has the same bits; its 77 rows are known to the plan alone.
// CHECK: drawloom.bound_extents = {double = array<i64: 77>}
// CHECK: llvm.func @double_0(%arg0: i64
func.func @double(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = arith.addf %x, %x : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
