// RUN: drawloom-opt %s --fuse-into-blocks --remarks-filter=fuse-into-blocks --verify-semantics 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: drawloom-opt %s --fuse-into-blocks=operations-per-byte=5 --verify-semantics | FileCheck %s --check-prefix=FAST

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#i = affine_map<(i) -> (i)>

// Each number is read by eight blocks: seven exponentials more take longer than nine times its bytes, seven additions do not.
// CHECK-LABEL: func.func @shared
// CHECK: %[[EXP:.*]] = linalg.generic {{.*}} ins(%arg0
// CHECK: math.exp
// CHECK-NOT: arith.addf
// CHECK: scf.forall
// CHECK-DAG: %[[E:.*]] = tensor.extract_slice %[[EXP]]
// CHECK-DAG: tensor.extract_slice %arg0
// CHECK: linalg.generic
// CHECK: arith.addf
// REMARK-DAG: Fused {{.*}}bytes=2304, operations=448, tensorBytes=256, times=8
// REMARK-DAG: NotFused{{.*}}computing it again would take longer than reading it{{.*}}bytes=2304, operations=10752, times=8
// FAST-LABEL: func.func @shared
// FAST-NOT: linalg.generic
// FAST: scf.forall
// FAST: math.exp
func.func @shared(%x: tensor<64xf32>) -> tensor<16x32xf32> {
  %empty = tensor.empty() : tensor<64xf32>
  %half = tensor.empty() : tensor<32xf32>
  %e = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = math.exp %in : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %in : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %results = tensor.empty() : tensor<16x32xf32>
  %y = scf.forall (%b) in (16) shared_outs(%all = %results) -> tensor<16x32xf32> {
    %lo = affine.apply affine_map<(b) -> ((b mod 2) * 32)>(%b)
    %a = tensor.extract_slice %e[%lo] [32] [1] : tensor<64xf32> to tensor<32xf32>
    %c = tensor.extract_slice %s[%lo] [32] [1] : tensor<64xf32> to tensor<32xf32>
    %product = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel"]}
        ins(%a, %c : tensor<32xf32>, tensor<32xf32>) outs(%half : tensor<32xf32>) {
    ^bb0(%l: f32, %r: f32, %out: f32):
      %m = arith.mulf %l, %r : f32
      linalg.yield %m : f32
    } -> tensor<32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %product into %all[%b, 0] [1, 32] [1, 1] : tensor<32xf32> into tensor<16x32xf32>
    }
  }
  return %y : tensor<16x32xf32>
}
