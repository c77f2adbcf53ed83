// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-plan-launches -verify-diagnostics

func.func private @kernel(f32) -> tensor<8xf32> attributes {drawloom.kernel}
func.func @f(%x: f32) -> tensor<8xf32> {
  // expected-error @+1 {{a value that the host would have to compute between two kernels has no form in a plan yet}}
  %y = arith.addf %x, %x : f32
  %0 = call @kernel(%y) : (f32) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
