// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-translate --mlir-to-ttir --compile-from=blocks %s | FileCheck %s
// RUN: drawloom-translate --mlir-to-ttir-json --compile-from=blocks %s | FileCheck %s --check-prefix=JSON

// A tile that a loop changes row by row is kept in memory, of which each program
// has a part. One that is only read in parts is gathered from.
// CHECK-LABEL: @running_0
// CHECK-DAG: %[[PART:.*]] = arith.constant 256 : i64
// CHECK: %[[PROGRAM:.*]] = arith.extsi
// CHECK: %[[TWICE:.*]] = arith.addf
// CHECK: %[[FROM:.*]] = arith.muli %[[PROGRAM]], %[[PART]]
// CHECK: %[[SCRATCH:.*]] = tt.addptr %{{.*}}, %[[FROM]]
// CHECK: tt.store
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: tt.splat %[[SCRATCH]]
// CHECK: tt.load
// CHECK: tt.gather %[[TWICE]]
// CHECK: gpu.barrier
// CHECK: tt.store
// CHECK: }
// CHECK-NEXT: gpu.barrier
// CHECK: tt.load

// JSON: "kind": "temporary",
// JSON-NEXT: "shape": [
// JSON-NEXT: 2,
// JSON-NEXT: 4,
// JSON-NEXT: 64
func.func @running(%x: tensor<2x4x64xf32>) -> tensor<2x4x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<2x4x64xf32>
  %y = scf.forall (%i) in (2) shared_outs(%out = %e) -> (tensor<2x4x64xf32>) {
    %part = tensor.extract_slice %x[%i, 0, 0] [1, 4, 64] [1, 1, 1] : tensor<2x4x64xf32> to tensor<4x64xf32>
    %twice = arith.addf %part, %part : tensor<4x64xf32>
    %sums = scf.for %k = %c0 to %c4 step %c1 iter_args(%sum = %part) -> (tensor<4x64xf32>) {
      %old = tensor.extract_slice %sum[0, 0] [1, 64] [1, 1] : tensor<4x64xf32> to tensor<64xf32>
      %row = tensor.extract_slice %twice[%k, 0] [1, 64] [1, 1] : tensor<4x64xf32> to tensor<64xf32>
      %new = arith.addf %old, %row : tensor<64xf32>
      %next = tensor.insert_slice %new into %sum[%k, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<4x64xf32>
      scf.yield %next : tensor<4x64xf32>
    }
    %all = arith.mulf %sums, %twice : tensor<4x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %all into %out[%i, 0, 0] [1, 4, 64] [1, 1, 1] : tensor<4x64xf32> into tensor<2x4x64xf32>
    }
  }
  return %y : tensor<2x4x64xf32>
}
