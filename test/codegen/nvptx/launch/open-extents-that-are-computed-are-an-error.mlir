// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: not drawloom-run %s --open --target=emulator --compile-to=tiles 2>&1 | FileCheck %s

// Half of the rows are no extent of an argument: the host would not know how much memory they take.
// CHECK: cannot run on a GPU with the unknown extents of 'tensor<?x8xf32>', which
func.func @half(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %h = arith.divui %n, %c2 : index
  %s = tensor.extract_slice %x[0, 0] [%h, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  %y = arith.addf %s, %s : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
