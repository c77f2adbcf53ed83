// RUN: drawloom-opt %s --cpu-fuse-multiply-adds --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#id = affine_map<(d0) -> (d0)>
#one = affine_map<(d0) -> ()>

// CHECK-LABEL: func.func @elementwise
// CHECK: math.fma
// CHECK-NOT: arith.mulf
func.func @elementwise(%x: tensor<5xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<5xf32>, tensor<5xf32>) outs(%e : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %p, %a : f32
    linalg.yield %s : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// A reduction is known by the sum in its body.
// CHECK-LABEL: func.func @reduction
// CHECK: %[[TERM:.*]] = math.fma
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[TERM]], %[[TERM]]
// CHECK: arith.addf %{{.*}}, %[[SQUARE]]
func.func @reduction(%x: tensor<5xf32>, %y: tensor<5xf32>, %z: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {indexing_maps = [#id, #id, #one], iterator_types = ["reduction"]}
      ins(%x, %y : tensor<5xf32>, tensor<5xf32>) outs(%z : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %p, %a : f32
    %q = arith.mulf %t, %t : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// Sums in bf16 are computed in f32, behind products that are rounded to bf16.
// CHECK-LABEL: func.func @narrow
// CHECK-NOT: math.fma
// CHECK: return
func.func @narrow(%x: tensor<5xbf16>) -> tensor<5xbf16> {
  %e = tensor.empty() : tensor<5xbf16>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<5xbf16>) outs(%e : tensor<5xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %p = arith.mulf %a, %a : bf16
    %s = arith.addf %p, %a : bf16
    linalg.yield %s : bf16
  } -> tensor<5xbf16>
  return %r : tensor<5xbf16>
}
