// RUN: drawloom-opt %s --refine-results | FileCheck %s
// RUN: drawloom-run %s --entry=open --random --shape=1:5x2 --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Both sides come from one type: so do the results, through both branches.
// CHECK-LABEL: @f(
// CHECK-SAME: -> tensor<5x2xf32>
// CHECK-COUNT-2: scf.if {{.*}} -> (tensor<5x2xf32>)
// CHECK: return %{{.*}} : tensor<5x2xf32>
func.func @f(%c: i1, %a: tensor<5x2xf32>, %b: tensor<5x2xf32>) -> tensor<?x2xf32> {
  %x = tensor.cast %a : tensor<5x2xf32> to tensor<?x2xf32>
  %y = tensor.cast %b : tensor<5x2xf32> to tensor<?x2xf32>
  %r = scf.if %c -> (tensor<?x2xf32>) {
    %q = scf.if %c -> (tensor<?x2xf32>) {
      scf.yield %y : tensor<?x2xf32>
    } else {
      scf.yield %x : tensor<?x2xf32>
    }
    scf.yield %q : tensor<?x2xf32>
  } else {
    scf.yield %y : tensor<?x2xf32>
  }
  return %r : tensor<?x2xf32>
}

func.func @open(%c: tensor<i1>, %a: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %k = tensor.extract %c[] : tensor<i1>
  %r = scf.if %k -> (tensor<?x2xf32>) {
    %t = kan.tanh %a : tensor<?x2xf32>
    scf.yield %t : tensor<?x2xf32>
  } else {
    scf.yield %a : tensor<?x2xf32>
  }
  return %r : tensor<?x2xf32>
}
