// RUN: %python %S/Inputs/updates.py 201 > %t.mlir
// RUN: drawloom-opt %t.mlir --merge-elementwise --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<8xf32>)
