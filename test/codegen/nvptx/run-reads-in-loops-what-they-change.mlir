// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-run %s --compile-to=shared --target=emulator | FileCheck %s --check-prefix=KERNEL
// RUN: drawloom-run %s --random --target=emulator --compare=interpreter | FileCheck %s
// CHECK-NOT: FAILED
// CHECK: : passed

// The loop puts the rows in reverse order: behind the middle it reads rows as
// they were, which it has changed in its own memory.
// KERNEL: %[[WHOLE:.*]] = tile.load %[[OLD:.*]] : memref<8x64xf32, 3>
// KERNEL: %[[COPY:.*]] = tile.alloc
// KERNEL: tile.store %[[WHOLE]], %[[COPY]]
// KERNEL: scf.for
// KERNEL: memref.subview %[[OLD]]
// KERNEL: tile.load
// KERNEL: memref.subview %[[COPY]]
// KERNEL: tile.store
func.func @reverse(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<16x64xf32>
  %r = scf.forall (%block) in (2) shared_outs(%o = %e) -> (tensor<16x64xf32>) {
    %first = arith.muli %block, %c8 : index
    %rows = tensor.extract_slice %x[%first, 0] [8, 64] [1, 1] : tensor<16x64xf32> to tensor<8x64xf32>
    %twice = arith.addf %rows, %rows : tensor<8x64xf32>
    %b = tensor.empty() : tensor<8x64xf32>
    %top = tensor.extract_slice %twice[4, 0] [4, 64] [1, 1] : tensor<8x64xf32> to tensor<4x64xf32>
    %half = tensor.insert_slice %top into %b[0, 0] [4, 64] [1, 1] : tensor<4x64xf32> into tensor<8x64xf32>
    %bottom = tensor.extract_slice %twice[0, 0] [4, 64] [1, 1] : tensor<8x64xf32> to tensor<4x64xf32>
    %a = tensor.insert_slice %bottom into %half[4, 0] [4, 64] [1, 1] : tensor<4x64xf32> into tensor<8x64xf32>
    %reversed = scf.for %i = %c0 to %c8 step %c1 iter_args(%p = %a) -> (tensor<8x64xf32>) {
      %from = arith.subi %c7, %i : index
      %row = tensor.extract_slice %a[%from, 0] [1, 64] [1, 1] : tensor<8x64xf32> to tensor<1x64xf32>
      %n = tensor.insert_slice %row into %p[%i, 0] [1, 64] [1, 1] : tensor<1x64xf32> into tensor<8x64xf32>
      scf.yield %n : tensor<8x64xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %reversed into %o[%first, 0] [8, 64] [1, 1] : tensor<8x64xf32> into tensor<16x64xf32>
    }
  }
  return %r : tensor<16x64xf32>
}
