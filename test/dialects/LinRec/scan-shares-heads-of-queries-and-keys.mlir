// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Heads 0 and 1 of the state read head 0 of the queries, 2 and 3 head 1; all read the only head of the keys.

func.func private @f(%q: tensor<1x1x2x1xf64>, %k: tensor<1x1x1x1xf64>, %v: tensor<1x1x4x1xf64>) -> (tensor<1x1x4x1xf64>, tensor<1x4x1x1xf64>) {
  %0:2 = linrec.scan %q, %k, %v
      : (tensor<1x1x2x1xf64>, tensor<1x1x1x1xf64>, tensor<1x1x4x1xf64>) -> (tensor<1x1x4x1xf64>, tensor<1x4x1x1xf64>)
  return %0#0, %0#1 : tensor<1x1x4x1xf64>, tensor<1x4x1x1xf64>
}

func.func @test_f() {
  %q = arith.constant dense<[[[[2.0], [3.0]]]]> : tensor<1x1x2x1xf64>
  %k = arith.constant dense<[[[[5.0]]]]> : tensor<1x1x1x1xf64>
  %v = arith.constant dense<[[[[1.0], [10.0], [100.0], [1000.0]]]]> : tensor<1x1x4x1xf64>
  %r:2 = call @f(%q, %k, %v)
      : (tensor<1x1x2x1xf64>, tensor<1x1x1x1xf64>, tensor<1x1x4x1xf64>) -> (tensor<1x1x4x1xf64>, tensor<1x4x1x1xf64>)
  %o = arith.constant dense<[[[[10.0], [100.0], [1500.0], [15000.0]]]]> : tensor<1x1x4x1xf64>
  check.close %r#0, %o : tensor<1x1x4x1xf64>
  %final = arith.constant dense<[[[[5.0]], [[50.0]], [[500.0]], [[5000.0]]]]> : tensor<1x4x1x1xf64>
  check.close %r#1, %final : tensor<1x4x1x1xf64>
  return
}
