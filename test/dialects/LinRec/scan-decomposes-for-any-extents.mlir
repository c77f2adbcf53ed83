// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --decompose-graph | FileCheck %s
// RUN: drawloom-opt %s --decompose-graph --canonicalize --bind-extents --canonicalize | FileCheck %s --check-prefix=BOUND

// What calls choose is asked for, and said to be the same of all operands.
// CHECK-LABEL: @any
// CHECK: cf.assert
// CHECK: scf.forall {{.*}} in (%{{.*}}, 2)
// The last chunk may not be full.
// CHECK: block.gather

// BOUND-LABEL: @any(
// BOUND-COUNT-4: drawloom.extents = array<i64: 0, 1
// BOUND-SAME: -> (tensor<?x?x2x16xf32> {drawloom.extents = array<i64: 0, 1, -1, -1>}, tensor<?x2x16x16xf32> {drawloom.extents = array<i64: 0, -1, -1, -1>})
// BOUND-NOT: cf.assert
func.func @any(%q: tensor<?x?x2x16xf32>, %k: tensor<?x?x2x16xf32>, %v: tensor<?x?x2x16xf32>, %g: tensor<?x?x2xf32>)
    -> (tensor<?x?x2x16xf32>, tensor<?x2x16x16xf32>) {
  %o, %final = linrec.scan %q, %k, %v decay(%g)
      : (tensor<?x?x2x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2xf32>)
      -> (tensor<?x?x2x16xf32>, tensor<?x2x16x16xf32>)
  return %o, %final : tensor<?x?x2x16xf32>, tensor<?x2x16x16xf32>
}

// One token at a time is never more than there are.
// CHECK-LABEL: @steps
// CHECK-NOT: block.gather
// CHECK: return
func.func @steps(%q: tensor<?x?x2x16xf32>, %k: tensor<?x?x2x16xf32>, %v: tensor<?x?x2x16xf32>)
    -> tensor<?x?x2x16xf32> {
  %o, %final = linrec.scan %q, %k, %v {chunk = 1}
      : (tensor<?x?x2x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x16xf32>)
      -> (tensor<?x?x2x16xf32>, tensor<?x2x16x16xf32>)
  return %o : tensor<?x?x2x16xf32>
}
