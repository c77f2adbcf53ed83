// RUN: drawloom-translate --drawloom-to-llvmir --isa=avx2 %s | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A kernel is called from one place only and is not inlined: its arguments say
// that memory does not overlap.
// CHECK: call void @f_kernel0(
// CHECK: define internal void @f_kernel0(ptr noalias %0, ptr noalias %1,
// What the entry wraps is a part of it.
// CHECK-NOT: define internal
// CHECK: define void @drawloom_f(
func.func @f(%x: tensor<4096x512xf32>) -> tensor<4096x512xf32> {
  %0 = math.exp %x : tensor<4096x512xf32>
  return %0 : tensor<4096x512xf32>
}
