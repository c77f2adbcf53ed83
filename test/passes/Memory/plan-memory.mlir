// RUN: drawloom-opt %s --plan-memory="bytes=6144 least-bytes=1024" --verify-transfers | FileCheck %s
// RUN: drawloom-opt %s --plan-memory="bytes=6144 least-bytes=1024" --verify-semantics -o /dev/null
// RUN: drawloom-opt %s --plan-memory | FileCheck %s --check-prefix=FREE
// RUN: drawloom-opt %s --plan-memory="bytes=6144 least-bytes=1024 report-only explain=-" | FileCheck %s --check-prefix=REPORT
// RUN: rm -f %t.json
// RUN: drawloom-opt %s --plan-memory="bytes=6144 least-bytes=1024 explain=%t.json" -o /dev/null
// RUN: FileCheck %s --check-prefix=DATA --input-file=%t.json

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Five values of 2 KiB are there at once, two of which are read at the end only;
// there is room for three. A sum that is cheap is computed again from arguments;
// a product with 512 operations for each number goes to the store.

// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[X:[^:]*]]: tensor<512xf32>, %[[M:[^:]*]]: tensor<512x512xf32>
// CHECK: %[[SUM:.*]] = linalg.add ins(%[[X]], %[[X]]
// CHECK: %[[PRODUCT:.*]] = linalg.matvec
// CHECK: %[[R:.*]] = offload.store %[[PRODUCT]]
// CHECK: linalg.exp
// CHECK: offload.load %[[R]]
// CHECK: %[[BACK:.*]] = offload.await %[[R]]
// CHECK: offload.drop %[[R]]
// CHECK: linalg.mul ins(%{{.*}}, %[[BACK]]
// CHECK: %[[AGAIN:.*]] = offload.again %[[X]] copy 1
// CHECK: %[[SUM2:.*]] = linalg.add ins(%[[AGAIN]], %[[AGAIN]]
// CHECK: linalg.mul ins(%{{.*}}, %[[SUM2]]

// FREE-LABEL: func.func @f(
// FREE-NOT: offload.

// REPORT: @f: workspace {{.*}} MiB -> {{.*}} MiB (may have {{.*}} MiB)
// REPORT: choice bytes steps made at type
// REPORT: again 2048 {{.*}} plan-memory.mlir:{{[0-9]+}} tensor<512xf32>
// REPORT: store 2048 {{.*}} plan-memory.mlir:{{[0-9]+}} tensor<512xf32>
// REPORT: func.func @f(
// REPORT-NOT: offload.

// DATA: {"binding_step":{{[0-9]+}},"budget":6144,"buffers":{{\[\[}}2048,0,
// DATA-SAME: "fits":true
// DATA-SAME: "choice":"again"
// DATA-SAME: "choice":"store"
func.func @f(%x: tensor<512xf32>, %m: tensor<512x512xf32>) -> tensor<512xf32> {
  %e = tensor.empty() : tensor<512xf32>
  %zero = arith.constant 0.0 : f32
  %sum = linalg.add ins(%x, %x : tensor<512xf32>, tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %product = linalg.matvec ins(%m, %sum : tensor<512x512xf32>, tensor<512xf32>) outs(%z : tensor<512xf32>) -> tensor<512xf32>
  %a = linalg.exp ins(%product : tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %g = linalg.exp ins(%a : tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %b = linalg.matvec ins(%m, %a : tensor<512x512xf32>, tensor<512xf32>) outs(%z2 : tensor<512xf32>) -> tensor<512xf32>
  %c = linalg.mul ins(%b, %g : tensor<512xf32>, tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %d = linalg.mul ins(%c, %product : tensor<512xf32>, tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %f = linalg.mul ins(%d, %sum : tensor<512xf32>, tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  return %f : tensor<512xf32>
}
