// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-outline-kernels -verify-diagnostics

// expected-error @+1 {{cannot run on a GPU with the unknown extents of 'tensor<?x8xf32>', which no argument tells: give them with --shape, or specialize the function}}
func.func @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  return %x : tensor<?x8xf32>
}
