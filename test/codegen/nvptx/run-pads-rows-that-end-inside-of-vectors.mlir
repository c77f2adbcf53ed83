// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-run %s --random --random-integers=37:38 --target=emulator --compare=interpreter | FileCheck %s
// RUN: drawloom-run %s --compile-to=shared --target=emulator | drawloom-opt --nvptx-lower | FileCheck %s --check-prefix=LOWERED
// CHECK-NOT: FAILED
// CHECK: : passed

// Only the running kernel knows that rows end behind 37 elements: a vector of
// four would bring what lies behind them in memory, which is not zero.
// LOWERED-NOT: llvm.load {{.*}} -> vector
// LOWERED: llvm.load {{.*}} : !llvm.ptr<1> -> f32
// LOWERED-NOT: llvm.load {{.*}} -> vector
func.func @pad(%x: tensor<64x64xf32>, %lengths: tensor<1xi32>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %r = scf.forall (%block) in (2) shared_outs(%o = %e) -> (tensor<64x64xf32>) {
    %first = arith.muli %block, %c32 : index
    %rows = tensor.extract_slice %x[%first, 0] [32, 64] [1, 1] : tensor<64x64xf32> to tensor<32x64xf32>
    %length = tensor.extract %lengths[%c0] : tensor<1xi32>
    %n = arith.index_cast %length : i32 to index
    %rest = arith.subi %c64, %n : index
    %part = tensor.extract_slice %rows[0, 0] [32, %n] [1, 1] : tensor<32x64xf32> to tensor<32x?xf32>
    %padded = tensor.pad %part low[0, 0] high[0, %rest] {
    ^bb0(%i: index, %j: index):
      tensor.yield %zero : f32
    } : tensor<32x?xf32> to tensor<32x64xf32>
    %y = arith.addf %padded, %padded : tensor<32x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%first, 0] [32, 64] [1, 1] : tensor<32x64xf32> into tensor<64x64xf32>
    }
  }
  return %r : tensor<64x64xf32>
}
