// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-outline-kernels --verify-semantics | FileCheck %s

// Memory has to be written with them, by a kernel of their own; not with what is not defined.
// CHECK-LABEL: func.func private @f_0() -> tensor<4xf32> attributes {drawloom.kernel, drawloom.kernel_of = "f"}
// CHECK: arith.constant dense<1.000000e+00>
// CHECK-LABEL: func.func @f()
// CHECK: call @f_0()
func.func @f() -> (tensor<4xf32>, tensor<0xf32>) {
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %nothing = tensor.empty() : tensor<0xf32>
  return %one, %nothing : tensor<4xf32>, tensor<0xf32>
}
