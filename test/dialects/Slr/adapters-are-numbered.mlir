// RUN: not drawloom-opt %s --interpret-checks -o /dev/null 2>&1 | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK: error: 'slr.adapter_linear' op has adapter 2 for row 0; they are from -1 to 1
func.func @test() {
  %x = arith.constant dense<1.0> : tensor<1x1xf64>
  %m = arith.constant dense<1.0> : tensor<2x1x1xf64>
  %which = arith.constant dense<2> : tensor<1xi32>
  %y = slr.adapter_linear %x, %m by %which : tensor<1x1xf64>, tensor<2x1x1xf64>, tensor<1xi32> -> tensor<1x1xf64>
  check.close %y, %x : tensor<1x1xf64>
  return
}
