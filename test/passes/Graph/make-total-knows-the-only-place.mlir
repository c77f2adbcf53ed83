// RUN: drawloom-opt %s --make-total --canonicalize --verify-semantics | FileCheck %s
// RUN: drawloom-run %s --entry=gradient --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A slice of all elements has one place: it is the tensor. (A loop that passed
// such a slice of what it carries on, and wrote into it, was refused.)
// CHECK-LABEL: func.func @whole
// CHECK-NEXT: return %arg0
func.func @whole(%x: tensor<4xbf16>, %y: tensor<4xbf16>, %at: index, %steps: index) -> tensor<4xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %steps step %c1 iter_args(%carried = %x) -> (tensor<4xbf16>) {
    %all = tensor.insert_slice %carried into %y[%at] [4] [1] : tensor<4xbf16> into tensor<4xbf16>
    scf.yield %all : tensor<4xbf16>
  }
  return %r : tensor<4xbf16>
}

func.func private @looped(%x: tensor<4xbf16>, %y: tensor<4xbf16>, %n: tensor<i64>) -> tensor<4xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %number = tensor.extract %n[] : tensor<i64>
  %at = arith.index_cast %number : i64 to index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%carried = %x) -> (tensor<4xbf16>) {
    %all = tensor.insert_slice %carried into %y[%at] [4] [1] : tensor<4xbf16> into tensor<4xbf16>
    scf.yield %all : tensor<4xbf16>
  }
  return %r : tensor<4xbf16>
}

func.func @gradient(%x: tensor<4xbf16>, %y: tensor<4xbf16>, %n: tensor<i64>, %d: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xbf16>) {
  %r:3 = ad.vjp @looped(%x, %y, %n) cotangents(%d) wrt [0, 1]
    : (tensor<4xbf16>, tensor<4xbf16>, tensor<i64>) -> (tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>)
  return %r#1, %r#2 : tensor<4xbf16>, tensor<4xbf16>
}
