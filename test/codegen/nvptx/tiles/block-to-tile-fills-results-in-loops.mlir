// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-run %s --target=emulator --compile-to=tiles | FileCheck %s
// RUN: drawloom-run %s --random --target=emulator --compare=interpreter | FileCheck %s --check-prefix=VALUES
// VALUES: : passed

// One block is no loop over blocks any more: what a loop fills for it is the result all the same, not a copy of
// 192 KiB in shared memory.
// CHECK-NOT: tile.alloc
// CHECK: scf.for
// CHECK: tile.store {{.*}}, %{{.*}} : tensor<64x64xf32>, memref<64x64xf32, strided<[768, 1], offset: ?>>
func.func @f(%x: tensor<64x768xf32>) -> tensor<64x768xf32> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c768 = arith.constant 768 : index
  %empty = tensor.empty() : tensor<64x768xf32>
  %y = scf.forall (%block) in (1) shared_outs(%out = %empty) -> (tensor<64x768xf32>) {
    %all = scf.for %at = %c0 to %c768 step %c64 iter_args(%part = %out) -> (tensor<64x768xf32>) {
      %t = tensor.extract_slice %x[0, %at] [64, 64] [1, 1] : tensor<64x768xf32> to tensor<64x64xf32>
      %twice = arith.addf %t, %t : tensor<64x64xf32>
      %next = tensor.insert_slice %twice into %part[0, %at] [64, 64] [1, 1] : tensor<64x64xf32> into tensor<64x768xf32>
      scf.yield %next : tensor<64x768xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %all into %out[0, 0] [64, 768] [1, 1] : tensor<64x768xf32> into tensor<64x768xf32>
    }
  }
  return %y : tensor<64x768xf32>
}
