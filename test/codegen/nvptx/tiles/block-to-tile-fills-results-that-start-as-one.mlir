// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-run %s --target=emulator --compile-to=tiles | FileCheck %s
// RUN: drawloom-run %s --random --target=emulator --compare=interpreter | FileCheck %s --check-prefix=VALUES
// VALUES: : passed

// A loop over one block is its body, and tensors without content are all the
// same. Yet each is filled in the memory of the result that it becomes.
// CHECK-LABEL: func.func private @f_0(
// CHECK-SAME: %[[X:[^:]*]]: memref<1x1024x60xf32>, %[[A:[^:]*]]: memref<1x1024x60xf32>, %[[B:[^:]*]]: memref<1x1024x60xf32>
// CHECK-NOT: tile.alloc
// CHECK: scf.for
// CHECK-NOT: tile.alloc
// CHECK-COUNT-2: tile.store {{.*}}, %{{.*}} : tensor<16x60xf32>, memref<16x60xf32, strided<[60, 1], offset: ?>>
// CHECK-NOT: tile.alloc
// CHECK: return
func.func @f(%x: tensor<1x1024x60xf32>) -> (tensor<1x1024x60xf32>, tensor<1x1024x60xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c1024 = arith.constant 1024 : index
  %empty = tensor.empty() : tensor<1x1024x60xf32>
  %y:2 = scf.forall (%block) in (1) shared_outs(%a = %empty, %b = %empty) -> (tensor<1x1024x60xf32>, tensor<1x1024x60xf32>) {
    %of_x = tensor.extract_slice %x[%block, 0, 0] [1, 1024, 60] [1, 1, 1] : tensor<1x1024x60xf32> to tensor<1024x60xf32>
    %of_a = tensor.extract_slice %a[%block, 0, 0] [1, 1024, 60] [1, 1, 1] : tensor<1x1024x60xf32> to tensor<1024x60xf32>
    %of_b = tensor.extract_slice %b[%block, 0, 0] [1, 1024, 60] [1, 1, 1] : tensor<1x1024x60xf32> to tensor<1024x60xf32>
    %all:2 = scf.for %at = %c0 to %c1024 step %c16 iter_args(%p = %of_a, %q = %of_b) -> (tensor<1024x60xf32>, tensor<1024x60xf32>) {
      %t = tensor.extract_slice %of_x[%at, 0] [16, 60] [1, 1] : tensor<1024x60xf32> to tensor<16x60xf32>
      %sum = arith.addf %t, %t : tensor<16x60xf32>
      %square = arith.mulf %t, %t : tensor<16x60xf32>
      %p2 = tensor.insert_slice %sum into %p[%at, 0] [16, 60] [1, 1] : tensor<16x60xf32> into tensor<1024x60xf32>
      %q2 = tensor.insert_slice %square into %q[%at, 0] [16, 60] [1, 1] : tensor<16x60xf32> into tensor<1024x60xf32>
      scf.yield %p2, %q2 : tensor<1024x60xf32>, tensor<1024x60xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %all#0 into %a[%block, 0, 0] [1, 1024, 60] [1, 1, 1] : tensor<1024x60xf32> into tensor<1x1024x60xf32>
      tensor.parallel_insert_slice %all#1 into %b[%block, 0, 0] [1, 1024, 60] [1, 1, 1] : tensor<1024x60xf32> into tensor<1x1024x60xf32>
    }
  }
  return %y#0, %y#1 : tensor<1x1024x60xf32>, tensor<1x1024x60xf32>
}
