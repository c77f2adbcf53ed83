// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-lower-tiles | FileCheck %s
// RUN: drawloom-opt %s --nvptx-lower-tiles=describe-accesses | FileCheck %s --check-prefix=DESCRIBED

// A tile of 128 elements is four registers of each of 32 threads, which one vector loads and one stores. Arithmetic and control
// flow stay as they are; the loop carries the registers.
// CHECK: llvm.mlir.global external @global_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK-LABEL: llvm.func @f(
// CHECK-SAME: %[[X:.*]]: !llvm.ptr<1> {{{.*}}llvm.readonly{{.*}}}, %[[OUT:[^:]*]]: !llvm.ptr<1> {{{.*}}}, %{{[^:]*}}: !llvm.ptr<1>, %{{[^:]*}}: !llvm.ptr<1>)
// CHECK-SAME: nvvm.kernel, nvvm.reqntid = array<i32: 32>
// CHECK: nvvm.read.ptx.sreg.tid.x
// CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-COUNT-4: llvm.extractelement
// CHECK: scf.for {{.*}} -> (f32, f32, f32, f32)
// CHECK-COUNT-4: arith.mulf
// CHECK-NOT: arith.mulf
// CHECK: scf.yield
// CHECK-COUNT-4: llvm.insertelement
// CHECK: llvm.store %{{.*}} : vector<4xf32>, !llvm.ptr<1>
// CHECK: llvm.return

// Each thread starts four elements behind the one before it.
// DESCRIBED: llvm.load {{.*}}drawloom.element = {at = array<i64: 0>, {{.*}}threads = array<i64: 0, 4, 0, 8, 0, 16, 0, 32, 0, 64>}
#line = #tile.layout<registers = [0:1*4], lanes = [0:4, 0:8, 0:16, 0:32, 0:64], warps = []>
func.func @f(%x: memref<128xf32>, %out: memref<128xf32>) attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 1 : i64, drawloom.shared_bytes = 0 : i64, drawloom.warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %t = tile.load %x : memref<128xf32> -> tensor<128xf32, #line>
  %power = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %t) -> (tensor<128xf32, #line>) {
    %q = arith.mulf %p, %t : tensor<128xf32, #line>
    scf.yield %q : tensor<128xf32, #line>
  }
  tile.store %power, %out : tensor<128xf32, #line>, memref<128xf32>
  return
}
