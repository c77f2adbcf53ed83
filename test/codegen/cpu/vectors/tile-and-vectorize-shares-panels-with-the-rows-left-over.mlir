// RUN: drawloom-opt %s --pass-pipeline='builtin.module(func.func(cpu-tile-and-vectorize{isa=avx2}))' | FileCheck %s
// RUN: drawloom-opt %s --cpu-tile-and-vectorize=isa=avx2 --verify-semantics --verify-semantics-entry=open -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Two rows would not pay for panels; but those of the 48 are there.
// CHECK-LABEL: func.func @open
// CHECK: %[[PANELS:.*]] = scf.forall {{.*}} -> (tensor<4x256x16xf32>)
// CHECK: vector.transfer_read %[[PANELS]]
// CHECK: vector.contract
// CHECK: vector.transfer_read %[[PANELS]]
// CHECK: vector.contract
// CHECK-NOT: vector.contract
func.func @open(%x: tensor<50x256xf32>, %w: tensor<64x256xf32>) -> tensor<50x64xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c48 = arith.constant 48 : index
  %c50 = arith.constant 50 : index
  %c2 = arith.constant 2 : index
  %result = tensor.empty() : tensor<50x64xf32>
  %y = scf.forall (%i) in (1) shared_outs(%out = %result) -> tensor<50x64xf32> {
    %turn = tensor.empty() : tensor<256x64xf32>
    %turned = linalg.transpose ins(%w : tensor<64x256xf32>) outs(%turn : tensor<256x64xf32>) permutation = [1, 0]
    %slot = tensor.extract_slice %out[0, 0] [50, 64] [1, 1] : tensor<50x64xf32> to tensor<50x64xf32>
    %first = scf.for %r = %c0 to %c48 step %c48 iter_args(%made = %slot) -> tensor<50x64xf32> {
      %rows = tensor.extract_slice %x[%r, 0] [48, 256] [1, 1] : tensor<50x256xf32> to tensor<48x256xf32>
      %empty = tensor.empty() : tensor<48x64xf32>
      %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<48x64xf32>) -> tensor<48x64xf32>
      %part = linalg.matmul ins(%rows, %turned : tensor<48x256xf32>, tensor<256x64xf32>) outs(%start : tensor<48x64xf32>) -> tensor<48x64xf32>
      %more = tensor.insert_slice %part into %made[%r, 0] [48, 64] [1, 1] : tensor<48x64xf32> into tensor<50x64xf32>
      scf.yield %more : tensor<50x64xf32>
    }
    %all = scf.for %r = %c48 to %c50 step %c2 iter_args(%made = %first) -> tensor<50x64xf32> {
      %rows = tensor.extract_slice %x[%r, 0] [2, 256] [1, 1] : tensor<50x256xf32> to tensor<2x256xf32>
      %empty = tensor.empty() : tensor<2x64xf32>
      %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x64xf32>) -> tensor<2x64xf32>
      %part = linalg.matmul ins(%rows, %turned : tensor<2x256xf32>, tensor<256x64xf32>) outs(%start : tensor<2x64xf32>) -> tensor<2x64xf32>
      %more = tensor.insert_slice %part into %made[%r, 0] [2, 64] [1, 1] : tensor<2x64xf32> into tensor<50x64xf32>
      scf.yield %more : tensor<50x64xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %all into %out[0, 0] [50, 64] [1, 1] : tensor<50x64xf32> into tensor<50x64xf32>
    }
  }
  return %y : tensor<50x64xf32>
}
