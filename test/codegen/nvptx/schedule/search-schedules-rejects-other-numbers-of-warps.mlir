// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-search-schedules=warps=3 -verify-diagnostics

// expected-error @+1 {{cannot have 3 warps: a block has 1, 2, 4, 8, 16 or 32}}
func.func @f() attributes {drawloom.kernel, drawloom.grid = 1 : i64, drawloom.inputs = 0 : i64} {
  return
}
