// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-translate --mlir-to-ptx --line-info=0 --arch=sm_90a %s | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: drawloom-translate --mlir-to-ptx --line-info=0 --arch=sm_80 %s | FileCheck %s --check-prefixes=CHECK,TWO

// A row's number is kept inside by one instruction where there is one, and its
// bytes are one product in 64 bits.
// CHECK-LABEL: .visible .entry row(
// ONE: min.relu.s32
// TWO: min.s32
// TWO-NEXT: max.s32
// CHECK-NEXT: mul.wide.u32 {{.*}}, 256;
// CHECK-NOT: shl
llvm.func @row(%p: !llvm.ptr<1>, %n: i32, %s0: !llvm.ptr<1>, %s1: !llvm.ptr<1>)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %last = llvm.mlir.constant(16383 : i32) : i32
  %width = llvm.mlir.constant(64 : i64) : i64
  %most = llvm.intr.smin(%n, %last) : (i32, i32) -> i32
  %row = llvm.intr.smax(%most, %zero) : (i32, i32) -> i32
  %wide = llvm.sext %row : i32 to i64
  %first = llvm.mul %wide, %width : i64
  %at = llvm.getelementptr %p[%first] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
  %x = llvm.load %at {alignment = 4 : i64} : !llvm.ptr<1> -> f32
  llvm.store %x, %p {alignment = 4 : i64} : f32, !llvm.ptr<1>
  llvm.return
}

// A bound below 0 is what such an index becomes.
// CHECK-LABEL: .visible .entry below(
// CHECK-NOT: min.relu.s32
// CHECK: ret;
llvm.func @below(%p: !llvm.ptr<1>, %n: i32, %s0: !llvm.ptr<1>, %s1: !llvm.ptr<1>)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %last = llvm.mlir.constant(-7 : i32) : i32
  %least = llvm.intr.smax(%n, %zero) : (i32, i32) -> i32
  %row = llvm.intr.smin(%least, %last) : (i32, i32) -> i32
  llvm.store %row, %p {alignment = 4 : i64} : i32, !llvm.ptr<1>
  llvm.return
}

// A product that 32 bits need not hold is left as it wraps.
// CHECK-LABEL: .visible .entry wraps(
// CHECK: shl.b32 {{.*}}, 6;
// CHECK: mul.wide.u32 {{.*}}, 4;
llvm.func @wraps(%p: !llvm.ptr<1>, %n: i32, %s0: !llvm.ptr<1>, %s1: !llvm.ptr<1>)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %width = llvm.mlir.constant(64 : i32) : i32
  %first = llvm.mul %n, %width : i32
  %wide = llvm.zext %first : i32 to i64
  %at = llvm.getelementptr %p[%wide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
  %x = llvm.load %at {alignment = 4 : i64} : !llvm.ptr<1> -> f32
  llvm.store %x, %p {alignment = 4 : i64} : f32, !llvm.ptr<1>
  llvm.return
}
