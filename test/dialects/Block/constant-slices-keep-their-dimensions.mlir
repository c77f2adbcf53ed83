// RUN: drawloom-opt %s --canonicalize --verify-semantics | FileCheck %s
// RUN: drawloom-run %s --entry=read --random --compare=interpreter
// RUN: drawloom-run %s --entry=write --random --compare=interpreter
// RUN: drawloom-run %s --entry=blocks --random --compare=interpreter
// RUN: drawloom-run %s --entry=read --random --target=emulator --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Of two dimensions of extent 1 a slice lacks the second. Upstream's patterns
// would drop the first one once offsets or sizes are known.

// CHECK-LABEL: func.func @read
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 2] [1, 64, 1] [1, 1, 1] : tensor<1x64x3xf32> to tensor<1x64xf32>
func.func @read(%x: tensor<1x64x3xf32>) -> tensor<1x64xf32> {
  %at = arith.constant 2 : index
  %y = tensor.extract_slice %x[0, 0, %at] [1, 64, 1] [1, 1, 1] : tensor<1x64x3xf32> to tensor<1x64xf32>
  return %y : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @counted
// CHECK: tensor.extract_slice %{{.*}}[0, 3, 2] [1, 8, 1] [1, 2, 1] : tensor<1x64x3xf32> to tensor<1x8xf32>
func.func @counted(%x: tensor<1x64x3xf32>) -> tensor<1x?xf32> {
  %at = arith.constant 2 : index
  %from = arith.constant 3 : index
  %count = arith.constant 8 : index
  %y = tensor.extract_slice %x[0, %from, %at] [1, %count, 1] [1, %at, 1] : tensor<1x64x3xf32> to tensor<1x?xf32>
  return %y : tensor<1x?xf32>
}

// CHECK-LABEL: func.func @write
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 2] [1, 64, 1] [1, 1, 1] : tensor<1x64xf32> into tensor<1x64x3xf32>
func.func @write(%x: tensor<1x64x3xf32>, %s: tensor<1x64xf32>) -> tensor<1x64x3xf32> {
  %count = arith.constant 64 : index
  %open = tensor.cast %s : tensor<1x64xf32> to tensor<1x?xf32>
  %y = tensor.insert_slice %open into %x[0, 0, 2] [1, %count, 1] [1, 1, 1] : tensor<1x?xf32> into tensor<1x64x3xf32>
  return %y : tensor<1x64x3xf32>
}

// CHECK-LABEL: func.func @blocks
// CHECK: tensor.parallel_insert_slice %{{.*}} into %{{.*}}[0, 0, %{{.*}}] [1, 64, 1] [1, 1, 1] : tensor<1x64xf32> into tensor<1x64x3xf32>
func.func @blocks(%x: tensor<1x64x3xf32>, %s: tensor<1x64xf32>) -> tensor<1x64x3xf32> {
  %count = arith.constant 64 : index
  %y = scf.forall (%i) in (3) shared_outs(%o = %x) -> tensor<1x64x3xf32> {
    %open = tensor.cast %s : tensor<1x64xf32> to tensor<1x?xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %open into %o[0, 0, %i] [1, %count, 1] [1, 1, 1] : tensor<1x?xf32> into tensor<1x64x3xf32>
    }
  }
  return %y : tensor<1x64x3xf32>
}
