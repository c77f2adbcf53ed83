// RUN: %python %S/Inputs/two_results.py 201 > %t.mlir
// RUN: drawloom-opt %t.mlir --merge-elementwise --verify-semantics | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The chain takes the first result's part with it; the second result is made
// in front of who reads it.

// CHECK: %[[BOTH:.*]]:2 = linalg.generic
// CHECK-COUNT-201: arith.subf
// CHECK: tensor.insert_slice %{{.*}} into %[[BOTH]]#1
