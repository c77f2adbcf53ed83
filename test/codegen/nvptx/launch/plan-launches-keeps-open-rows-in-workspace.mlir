// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-outline-kernels --nvptx-plan-launches | FileCheck %s
// RUN: drawloom-run %s --open --target=emulator --random --shape=0:5x8 --compare=interpreter

// What is kept between two launches has as many rows as the call says: 32 bytes times these, rounded up. The second launch changes a copy
// of what the caller keeps.
// CHECK: drawloom.plan
// CHECK-SAME: \22extents\22:1
// CHECK-SAME: \22kernel\22:\22f_0\22,\22operands\22:{{\[\[}}\22extent\22,0],[\22argument\22,0],[\22open_workspace\22,0,0]
// CHECK-SAME: \22kernel\22:\22f_1\22,\22operands\22:{{\[\[}}\22extent\22,0],[\22open_workspace\22,0,0],[\22result\22,0]
// CHECK-SAME: \22copy_bytes\22:[\22mul\22,32,[\22extent\22,0]],\22operands\22:{{\[\[}}\22argument\22,0],[\22result\22,1]
// CHECK-SAME: \22workspace_bytes\22:0,\22workspace_terms\22:[{\22bytes\22:32,\22extents\22:[0]}]
func.func @f(%x: tensor<?x8xf32> {drawloom.extents = array<i64: 0, -1>})
    -> (tensor<?x8xf32> {drawloom.extents = array<i64: 0, -1>}, tensor<?x8xf32> {drawloom.extents = array<i64: 0, -1>}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %a = scf.forall (%i) in (%n) shared_outs(%o = %e) -> tensor<?x8xf32> {
    %r = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    %s = arith.addf %r, %r : tensor<1x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<?x8xf32>
    }
  }
  %b = scf.forall (%i) in (%n) shared_outs(%o = %e) -> tensor<?x8xf32> {
    %r = tensor.extract_slice %a[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    %s = arith.mulf %r, %r : tensor<1x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<?x8xf32>
    }
  }
  return %b, %x : tensor<?x8xf32>, tensor<?x8xf32>
}
