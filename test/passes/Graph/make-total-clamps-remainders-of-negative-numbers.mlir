// RUN: drawloom-opt %s --make-total --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#id = affine_map<(i) -> (i)>

// A signed remainder has the sign of what is divided: -3 to 7 here, so that the
// index has to be kept inside the table.
// CHECK-LABEL: func.func @negative
// CHECK: %[[AT:.+]] = arith.remsi
// CHECK: %[[HERE:.+]] = arith.maxsi %{{.+}}, %{{.+}} : index
// CHECK: tensor.extract %{{.+}}[%[[HERE]]]
func.func @negative(%t: tensor<8xf32>) -> tensor<16xf32> {
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<16xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<16xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %before = arith.subi %i, %c3 : index
    %at = arith.remsi %before, %c8 : index
    %x = tensor.extract %t[%at] : tensor<8xf32>
    linalg.yield %x : f32
  } -> tensor<16xf32>
  return %r : tensor<16xf32>
}

// Remainders of numbers that are not negative are all in the table.
// CHECK-LABEL: func.func @positive
// CHECK: %[[AT:.+]] = arith.remsi
// CHECK-NEXT: tensor.extract %{{.+}}[%[[AT]]]
func.func @positive(%t: tensor<8xf32>) -> tensor<16xf32> {
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<16xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<16xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %at = arith.remsi %i, %c8 : index
    %x = tensor.extract %t[%at] : tensor<8xf32>
    linalg.yield %x : f32
  } -> tensor<16xf32>
  return %r : tensor<16xf32>
}
