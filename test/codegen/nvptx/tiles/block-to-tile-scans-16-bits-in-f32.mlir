// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-block-to-tile --canonicalize --verify-semantics | FileCheck %s

// CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : tensor<64xf16> to tensor<64xf32>
// CHECK: %[[SUM:.*]] = tile.scan add %[[WIDE]]
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[SUM]] : tensor<64xf32> to tensor<64xf16>
// CHECK: tile.store %[[ROUNDED]]
func.func @f(%x: tensor<4x64xf16>) -> tensor<4x64xf16> attributes {drawloom.kernel} {
  %e = tensor.empty() : tensor<4x64xf16>
  %y = scf.forall (%b) in (4) shared_outs(%o = %e) -> (tensor<4x64xf16>) {
    %in = tensor.extract_slice %x[%b, 0] [1, 64] [1, 1] : tensor<4x64xf16> to tensor<64xf16>
    %row = tensor.extract_slice %o[%b, 0] [1, 64] [1, 1] : tensor<4x64xf16> to tensor<64xf16>
    %done = block.scan add %in along 0 outs(%row) : tensor<64xf16> -> tensor<64xf16>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %done into %o[%b, 0] [1, 64] [1, 1] : tensor<64xf16> into tensor<4x64xf16>
    }
  }
  return %y : tensor<4x64xf16>
}
