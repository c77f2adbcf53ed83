// RUN: drawloom-run %s --entry=while --random --compare=interpreter
// RUN: drawloom-run %s --entry=forwards_others --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @while(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.while (%i = %c0, %s = %a) : (index, tensor<6x4xf32>) -> (index, tensor<6x4xf32>) {
    %more = arith.cmpi slt, %i, %c4 : index
    scf.condition(%more) %i, %s : index, tensor<6x4xf32>
  } do {
  ^bb0(%i: index, %s: tensor<6x4xf32>):
    %n = arith.addf %s, %a : tensor<6x4xf32>
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %n : index, tensor<6x4xf32>
  }
  return %r#1 : tensor<6x4xf32>
}

// What the condition hands on is neither in the order of the arguments nor one
// of them.
func.func @forwards_others(%a: tensor<6x4xf32>, %b: tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %r:4 = scf.while (%i = %c0, %s = %a, %t = %b) : (index, tensor<6x4xf32>, tensor<6x4xf32>)
      -> (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, index) {
    %more = arith.cmpi slt, %i, %c4 : index
    %e = math.tanh %s : tensor<6x4xf32>
    scf.condition(%more) %t, %e, %s, %i : tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, index
  } do {
  ^bb0(%t: tensor<6x4xf32>, %e: tensor<6x4xf32>, %s: tensor<6x4xf32>, %i: index):
    %n = arith.addf %s, %e : tensor<6x4xf32>
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %t, %n : index, tensor<6x4xf32>, tensor<6x4xf32>
  }
  return %r#0, %r#1 : tensor<6x4xf32>, tensor<6x4xf32>
}
