// RUN: drawloom-opt %s --make-total --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#whole = affine_map<()[n] -> (n floordiv 4 * 4)>

// Pieces of 4 up to the last whole one leave nothing, whatever the extent is;
// of what the loop changes piece by piece neither.
// CHECK-LABEL: func.func @pieces
// CHECK: scf.for
// CHECK-NOT: arith.minsi
// CHECK-NOT: arith.maxsi
// CHECK: return
func.func @pieces() -> tensor<16xf32> {
  %x = arith.constant dense<[0., 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12., 13., 14., 15.]> : tensor<16xf32>
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c3 = arith.constant 3 : index
  %counts = arith.constant dense<[3, 11, 6, 9]> : tensor<4xindex>
  %n = tensor.extract %counts[%c3] : tensor<4xindex>
  %part = tensor.extract_slice %x[2] [%n] [1] : tensor<16xf32> to tensor<?xf32>
  %end = affine.apply #whole()[%n]
  %new = scf.for %at = %c0 to %end step %c4 iter_args(%o = %part) -> tensor<?xf32> {
    %four = tensor.extract_slice %part[%at] [4] [1] : tensor<?xf32> to tensor<4xf32>
    %twice = arith.addf %four, %four : tensor<4xf32>
    %next = tensor.insert_slice %twice into %o[%at] [4] [1] : tensor<4xf32> into tensor<?xf32>
    scf.yield %next : tensor<?xf32>
  }
  %y = tensor.insert_slice %new into %x[2] [%n] [1] : tensor<?xf32> into tensor<16xf32>
  return %y : tensor<16xf32>
}

// Of another extent they might.
// CHECK-LABEL: func.func @others
// CHECK: scf.for
// CHECK: arith.minsi
// CHECK: arith.maxsi
func.func @others(%n: index, %m: index, %x: tensor<16xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %first = arith.constant dense<0.0> : tensor<4xf32>
  %part = tensor.extract_slice %x[2] [%m] [1] : tensor<16xf32> to tensor<?xf32>
  %end = affine.apply #whole()[%n]
  %sum = scf.for %at = %c0 to %end step %c4 iter_args(%s = %first) -> tensor<4xf32> {
    %four = tensor.extract_slice %part[%at] [4] [1] : tensor<?xf32> to tensor<4xf32>
    %next = arith.addf %s, %four : tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  return %sum : tensor<4xf32>
}
