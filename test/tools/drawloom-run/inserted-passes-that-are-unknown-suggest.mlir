// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: not drawloom-run %s --insert-passes=structured:canonicalise,cse --compile-to=blocks 2>&1 | FileCheck %s
// RUN: not drawloom-run %s --insert-passes='structured:func.func(fuse-rosw)' --compile-to=blocks 2>&1 | FileCheck %s --check-prefix=NESTED
// RUN: not drawloom-run %s --insert-passes=structured:xyzzy --compile-to=blocks 2>&1 | FileCheck %s --check-prefix=FAR

// CHECK: the passes 'canonicalise,cse' before phase structured are not a valid pipeline
// CHECK-SAME: 'canonicalise' does not refer to a registered pass or pass pipeline; did you mean 'canonicalize'?
// NESTED: 'fuse-rosw' does not refer to a registered pass or pass pipeline; did you mean 'fuse-rows'?
// FAR: 'xyzzy' does not refer to a registered pass or pass pipeline
// FAR-NOT: did you mean
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
