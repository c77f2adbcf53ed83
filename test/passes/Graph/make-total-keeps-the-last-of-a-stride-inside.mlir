// RUN: drawloom-opt %s --make-total --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Offsets up to 2 are inside: 2, 4 and 6.
// CHECK: %[[MOST:.*]] = arith.constant 2 : index
// CHECK: arith.minsi %{{.*}}, %[[MOST]]
func.func @f(%x: tensor<7xf32>, %i: index) -> tensor<3xf32> {
  %y = tensor.extract_slice %x[%i] [3] [2] : tensor<7xf32> to tensor<3xf32>
  return %y : tensor<3xf32>
}
