// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The ordinary budget gives a training step of three layers of 64 in f32 32 rows; what is predicted of 64 is better, and they fit
// everywhere. All architectures have the same.
// RUN: sed s/ROWS/65536/g %s > %t.many.mlir
// RUN: drawloom-translate %t.many.mlir --mlir-to-schedules --arch=sm_80 | FileCheck %s
// RUN: drawloom-translate %t.many.mlir --mlir-to-schedules --arch=sm_90a | FileCheck %s
// CHECK: "train_0": {
// CHECK: "predicted": {
// CHECK: "rows": 64

// What is given holds.
// RUN: echo '{"train": {"rows": 16}}' > %t.json
// RUN: drawloom-translate %t.many.mlir --mlir-to-schedules --schedule=%t.json | FileCheck %s --check-prefix=GIVEN
// GIVEN: "rows": 16

// It is noted on the function, and remarks are of what was chosen.
// RUN: drawloom-run %t.many.mlir --random --target=emulator --compile-to=blocks --remarks-filter=fuse-rows 2>%t.remarks | FileCheck %s --check-prefix=NOTED
// NOTED: func.func @train({{.*}}drawloom.tile_bytes = {{147456|294912|589824}}
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// REMARK: tileRows=64
// REMARK-NOT: tileRows=32

// Few rows are spread over all multiprocessors, in tiles as small as that takes.
// RUN: sed s/ROWS/4096/g %s > %t.few.mlir
// RUN: drawloom-run %t.few.mlir --random --target=emulator --compile-to=blocks --remarks-filter=fuse-rows 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: blocks=128,{{.*}}tileRows=32
func.func private @forward(%x: tensor<ROWSx64xf32>, %u: tensor<64x64xf32>, %v: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<ROWSx64xf32> {
  %zero = arith.constant dense<0.0> : tensor<ROWSx64xf32>
  %r = linalg.matmul ins(%x, %u : tensor<ROWSx64xf32>, tensor<64x64xf32>) outs(%zero : tensor<ROWSx64xf32>) -> tensor<ROWSx64xf32>
  %g = kan.relu %r : tensor<ROWSx64xf32>
  %s = linalg.matmul ins(%g, %v : tensor<ROWSx64xf32>, tensor<64x64xf32>) outs(%zero : tensor<ROWSx64xf32>) -> tensor<ROWSx64xf32>
  %h = kan.relu %s : tensor<ROWSx64xf32>
  %y = linalg.matmul ins(%h, %w : tensor<ROWSx64xf32>, tensor<64x64xf32>) outs(%zero : tensor<ROWSx64xf32>) -> tensor<ROWSx64xf32>
  return %y : tensor<ROWSx64xf32>
}
func.func @train(%x: tensor<ROWSx64xf32>, %dy: tensor<ROWSx64xf32>, %u: tensor<64x64xf32>, %v: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> (tensor<ROWSx64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %y, %g:3 = ad.vjp @forward(%x, %u, %v, %w) cotangents(%dy) wrt [1, 2, 3]
    : (tensor<ROWSx64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<ROWSx64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>)
  return %y, %g#0, %g#1, %g#2 : tensor<ROWSx64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}
