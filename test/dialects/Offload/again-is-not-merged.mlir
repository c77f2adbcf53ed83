// RUN: drawloom-opt %s --canonicalize --cse | FileCheck %s
// RUN: drawloom-run %s --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is computed again is computed twice; what nobody wants is not.

// CHECK-LABEL: func.func @twice
// CHECK-COUNT-2: math.exp
// CHECK-NOT: math.exp
func.func @twice(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = math.exp %x : tensor<8xf32>
  %same = offload.again %x copy 1 : tensor<8xf32>
  %b = math.exp %same : tensor<8xf32>
  %unwanted = offload.again %x copy 2 : tensor<8xf32>
  %c = math.exp %unwanted : tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}
