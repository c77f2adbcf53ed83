// RUN: drawloom-opt %s --promote-accumulators --verify-semantics | FileCheck %s
// RUN: drawloom-run %s --random --entry=beside_elements --compare=interpreter
// RUN: drawloom-run %s --random --entry=beside_maximum --compare=interpreter
// RUN: drawloom-run %s --random --entry=beside_wide --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#n = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
#t = affine_map<(i, j, k) -> (i, j, k)>
#c = affine_map<(i, j, k) -> (k)>

// From 128 on a sum that is rounded at each step grows by 1, not by 3/4.
// Elements, the terms among them, are what they were.
// CHECK-LABEL: func.func @beside_elements
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<8xf32>, tensor<4x47x8xbf16>)
// CHECK: %[[WIDE:.*]] = arith.extf %[[TERM:.*]] : bf16 to f32
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %[[WIDE]] : f32
// CHECK: linalg.yield %[[SUM]], %[[TERM]] : f32, bf16
func.func @beside_elements(%o: tensor<8xbf16>) -> (tensor<8xbf16>, tensor<4x47x8xbf16>) {
  %term = arith.constant 0.75 : bf16
  %e = tensor.empty() : tensor<4x47x8xbf16>
  %y:2 = linalg.generic {indexing_maps = [#c, #t], iterator_types = ["reduction", "reduction", "parallel"]}
      outs(%o, %e : tensor<8xbf16>, tensor<4x47x8xbf16>) {
  ^bb0(%s: bf16, %t: bf16):
    %u = arith.addf %s, %term : bf16
    linalg.yield %u, %term : bf16, bf16
  } -> (tensor<8xbf16>, tensor<4x47x8xbf16>)
  return %y#0, %y#1 : tensor<8xbf16>, tensor<4x47x8xbf16>
}

// CHECK-LABEL: func.func @beside_maximum
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<4xbf16>, tensor<4xf32>)
// CHECK: arith.maximumf %{{.*}}, %{{.*}} : bf16
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
func.func @beside_maximum(%x: tensor<4x600xbf16>, %o: tensor<4xbf16>, %p: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xbf16>) {
  %one = arith.constant 1.0 : bf16
  %y:2 = linalg.generic {indexing_maps = [#n, #r, #r], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x600xbf16>) outs(%o, %p : tensor<4xbf16>, tensor<4xbf16>) {
  ^bb0(%a: bf16, %s: bf16, %t: bf16):
    %u = arith.maximumf %s, %a : bf16
    %v = arith.addf %t, %one : bf16
    linalg.yield %u, %v : bf16, bf16
  } -> (tensor<4xbf16>, tensor<4xbf16>)
  return %y#0, %y#1 : tensor<4xbf16>, tensor<4xbf16>
}

// CHECK-LABEL: func.func @beside_wide
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<4xi32>, tensor<4xf32>)
// CHECK: arith.addi %{{.*}}, %{{.*}} : i32
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
func.func @beside_wide(%x: tensor<4x600xbf16>, %o: tensor<4xi32>, %p: tensor<4xbf16>) -> (tensor<4xi32>, tensor<4xbf16>) {
  %one = arith.constant 1 : i32
  %unit = arith.constant 1.0 : bf16
  %y:2 = linalg.generic {indexing_maps = [#n, #r, #r], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x600xbf16>) outs(%o, %p : tensor<4xi32>, tensor<4xbf16>) {
  ^bb0(%a: bf16, %s: i32, %t: bf16):
    %u = arith.addi %s, %one : i32
    %v = arith.addf %t, %unit : bf16
    linalg.yield %u, %v : i32, bf16
  } -> (tensor<4xi32>, tensor<4xbf16>)
  return %y#0, %y#1 : tensor<4xi32>, tensor<4xbf16>
}

// A sum that something else sees at each step is not moved.
// CHECK-LABEL: func.func @running
// CHECK-NOT: f32
// CHECK: return
func.func @running(%x: tensor<4x600xbf16>, %o: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4x600xbf16>) {
  %e = tensor.empty() : tensor<4x600xbf16>
  %y:2 = linalg.generic {indexing_maps = [#n, #r, #n], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x600xbf16>) outs(%o, %e : tensor<4xbf16>, tensor<4x600xbf16>) {
  ^bb0(%a: bf16, %s: bf16, %t: bf16):
    %u = arith.addf %s, %a : bf16
    linalg.yield %u, %u : bf16, bf16
  } -> (tensor<4xbf16>, tensor<4x600xbf16>)
  return %y#0, %y#1 : tensor<4xbf16>, tensor<4x600xbf16>
}

// An addition in an op that sums up something else is no sum.
// CHECK-LABEL: func.func @added
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4x600xbf16>)
// CHECK: arith.addf %{{.*}}, %{{.*}} : bf16
func.func @added(%x: tensor<4x600xbf16>, %o: tensor<4xbf16>, %p: tensor<4x600xbf16>) -> (tensor<4xbf16>, tensor<4x600xbf16>) {
  %y:2 = linalg.generic {indexing_maps = [#n, #r, #n], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x600xbf16>) outs(%o, %p : tensor<4xbf16>, tensor<4x600xbf16>) {
  ^bb0(%a: bf16, %s: bf16, %t: bf16):
    %u = arith.addf %s, %a : bf16
    %v = arith.addf %t, %a : bf16
    linalg.yield %u, %v : bf16, bf16
  } -> (tensor<4xbf16>, tensor<4x600xbf16>)
  return %y#0, %y#1 : tensor<4xbf16>, tensor<4x600xbf16>
}
