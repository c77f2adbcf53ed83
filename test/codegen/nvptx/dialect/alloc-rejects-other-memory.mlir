// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s -verify-diagnostics

func.func @f() {
  // expected-error @+1 {{makes a buffer outside shared memory, of type 'memref<8xf32>'}}
  %0 = tile.alloc : memref<8xf32>
  return
}
