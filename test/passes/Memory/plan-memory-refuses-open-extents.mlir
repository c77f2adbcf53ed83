// RUN: drawloom-opt %s --plan-memory="bytes=1" --verify-diagnostics
// RUN: drawloom-opt %s --plan-memory --verify-semantics -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expected-error @below {{@f needs as much memory as the extents of a call say, which nobody knows yet: compile it for the extents of one call}}
func.func @f(%x: tensor<?xf32>, %e: tensor<?xf32>) -> tensor<?xf32> {
  %a = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %a : tensor<?xf32>
}
