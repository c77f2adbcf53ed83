// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --cpu-kernels=streamed-bytes=4096 --canonicalize | FileCheck %s
// RUN: drawloom-opt %s --cpu-kernels=streamed-bytes=4096 --cpu-stream-stores --cpu-lower-to-llvm | FileCheck %s --check-prefix=LLVM

// Nobody knows how large a result of open extent will be: the call tells the kernel.
// CHECK-LABEL: func.func private @f_kernel0
// CHECK-SAME: drawloom.streamed
// CHECK-SAME: index {drawloom.streams}
// CHECK-LABEL: func.func @f(
// CHECK-SAME: %{{.*}}: memref<1xf32>, %[[N:.*]]: index)
// CHECK: %[[BYTES:.*]] = arith.muli %[[N]], %c64
// CHECK: arith.cmpi ugt, %[[BYTES]], %c4096

// LLVM-LABEL: llvm.func @f_kernel0
// LLVM: %[[SAID:.*]] = llvm.icmp "ne" %arg2, %{{.*}} : i64
// LLVM: %[[ALIGNED:.*]] = llvm.icmp "eq"
// LLVM: %[[BOTH:.*]] = llvm.and %[[ALIGNED]], %[[SAID]]
// LLVM: llvm.cond_br %[[BOTH]]
// LLVM: llvm.store {{.*}}nontemporal
func.func @f(%out: memref<1xf32>, %n: index) attributes {drawloom.signature = {
    arguments = [], results = [tensor<?x16xf32>], extents = [array<i64: 0, -1>], open_extents = 1 : i64,
    workspace_bytes = 0 : i64, workspace_terms = [], scratch_bytes = 0 : i64, scratch_terms = []}} {
  %v = arith.constant dense<1.0> : vector<16xf32>
  %c0 = arith.constant 0 : index
  %all = memref.reinterpret_cast %out to offset: [0], sizes: [%n, 16], strides: [16, 1] : memref<1xf32> to memref<?x16xf32>
  scf.forall (%i) in (%n) {
    %row = memref.subview %all[%i, 0] [1, 16] [1, 1] : memref<?x16xf32> to memref<1x16xf32, strided<[16, 1], offset: ?>>
    vector.transfer_write %v, %row[%c0, %c0] {in_bounds = [true]} : vector<16xf32>, memref<1x16xf32, strided<[16, 1], offset: ?>>
  }
  return
}
