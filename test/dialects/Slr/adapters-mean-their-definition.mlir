// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --decompose-blocks --interpret-checks -o /dev/null
// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-LABEL: func.func @test
// CHECK: slr.adapter_linear {{.*}} by %{{.*}} scales
// CHECK: slr.adapter_linear {{.*}} by %{{.*}} transpose
// CHECK: slr.adapter_outer {{.*}} by
func.func @test() {
  %x = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf64>
  %m = arith.constant dense<[[[1.0], [10.0]], [[100.0], [1000.0]]]> : tensor<2x2x1xf64>
  %which = arith.constant dense<[1, -1, 0]> : tensor<3xi32>
  %s = arith.constant dense<[2.0, 3.0]> : tensor<2xf64>
  %y = slr.adapter_linear %x, %m by %which scales %s : tensor<3x2xf64>, tensor<2x2x1xf64>, tensor<3xi32>, tensor<2xf64> -> tensor<3x1xf64>
  %y_wanted = arith.constant dense<[[6300.0], [0.0], [130.0]]> : tensor<3x1xf64>
  check.close %y, %y_wanted : tensor<3x1xf64>
  %g = arith.constant dense<[[1.0], [1.0], [2.0]]> : tensor<3x1xf64>
  %dx = slr.adapter_linear %g, %m by %which transpose : tensor<3x1xf64>, tensor<2x2x1xf64>, tensor<3xi32> -> tensor<3x2xf64>
  %dx_wanted = arith.constant dense<[[100.0, 1000.0], [0.0, 0.0], [2.0, 20.0]]> : tensor<3x2xf64>
  check.close %dx, %dx_wanted : tensor<3x2xf64>
  %dm = slr.adapter_outer %x, %g by %which scales %s : tensor<3x2xf64>, tensor<3x1xf64>, tensor<3xi32>, tensor<2xf64> -> tensor<2x2x1xf64>
  %dm_wanted = arith.constant dense<[[[20.0], [24.0]], [[3.0], [6.0]]]> : tensor<2x2x1xf64>
  check.close %dm, %dm_wanted : tensor<2x2x1xf64>
  return
}
