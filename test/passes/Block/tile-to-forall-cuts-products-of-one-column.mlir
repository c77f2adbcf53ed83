// RUN: drawloom-opt %s --tile-to-forall='max-blocks=1048576 min-iterations=65536 piece-iterations=2048' --verify-semantics | FileCheck %s
// RUN: drawloom-run %s --target=emulator --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sums of 2560 rows would be few, but not what is read of the matrix.
// CHECK-LABEL: func.func @two
// CHECK-COUNT-2: linalg.matmul ins({{.*}} : tensor<256x64xf32>, tensor<64x1xf32>)
func.func @two(%a: tensor<2560x64xf32>, %b: tensor<64x1xf32>, %c: tensor<64x1xf32>) -> (tensor<2560x1xf32>, tensor<2560x1xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2560x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2560x1xf32>) -> tensor<2560x1xf32>
  %d = linalg.matmul ins(%a, %b : tensor<2560x64xf32>, tensor<64x1xf32>) outs(%f : tensor<2560x1xf32>) -> tensor<2560x1xf32>
  %g = linalg.matmul ins(%a, %c : tensor<2560x64xf32>, tensor<64x1xf32>) outs(%f : tensor<2560x1xf32>) -> tensor<2560x1xf32>
  return %d, %g : tensor<2560x1xf32>, tensor<2560x1xf32>
}
