// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @f(
// CHECK: linrec.scan {{.*}} : (tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32>) -> (tensor<2x5x2x4xf32>, tensor<2x2x4x4xf32>)
func.func @f(%q: tensor<2x5x2x4xf32>) -> tensor<?x?x2x4xf32> {
  %open = tensor.cast %q : tensor<2x5x2x4xf32> to tensor<?x?x2x4xf32>
  %k = math.tanh %open : tensor<?x?x2x4xf32>
  %o, %final = linrec.scan %open, %k, %k
      : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x4x4xf32>)
  return %o : tensor<?x?x2x4xf32>
}
