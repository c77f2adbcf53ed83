// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-outline-kernels --nvptx-plan-launches -verify-diagnostics

// expected-error @+1 {{cannot be called: 'tensor<8xi5>' in its signature has no form in a device's memory}}
func.func @f(%x: tensor<8xi5>) -> tensor<8xi5> {
  return %x : tensor<8xi5>
}
