// RUN: drawloom-opt %s -split-input-file --decompose-graph="processors=8" --remarks-filter=linrec-schedule 2>&1 | FileCheck %s --implicit-check-not=drawloom.machine

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A schedule that is said is not chosen: with one segment, or one block of values,
// a head is one block.
// CHECK-NOT: Scheduled
// CHECK-LABEL: @one_segment
// CHECK: scf.forall ({{.*}}) in (1, 1)
// CHECK-NOT: scf.forall (
func.func @one_segment(%q: tensor<1x8192x1x64xf32>, %v: tensor<1x8192x1x128xf32>, %g: tensor<1x8192x1xf32>)
    -> (tensor<1x8192x1x128xf32>, tensor<1x1x64x128xf32>) {
  %0:2 = linrec.scan %q, %q, %v decay(%g) {segments = 1}
      : (tensor<1x8192x1x64xf32>, tensor<1x8192x1x64xf32>, tensor<1x8192x1x128xf32>, tensor<1x8192x1xf32>)
      -> (tensor<1x8192x1x128xf32>, tensor<1x1x64x128xf32>)
  return %0#0, %0#1 : tensor<1x8192x1x128xf32>, tensor<1x1x64x128xf32>
}

// -----

// CHECK-NOT: Scheduled
// CHECK-LABEL: @one_block_of_values
// CHECK: scf.forall ({{.*}}) in (1, 1)
// CHECK-NOT: scf.forall (
func.func @one_block_of_values(%q: tensor<1x8192x1x64xf32>, %v: tensor<1x8192x1x128xf32>, %g: tensor<1x8192x1xf32>)
    -> (tensor<1x8192x1x64xf32>, tensor<1x8192x1x64xf32>, tensor<1x8192x1x128xf32>, tensor<1x8192x1xf32>) {
  %0:4 = linrec.scan_bwd %q, %q, %v decay(%g) cotangents(%v) {value_blocks = 1}
      : (tensor<1x8192x1x64xf32>, tensor<1x8192x1x64xf32>, tensor<1x8192x1x128xf32>, tensor<1x8192x1xf32>, tensor<1x8192x1x128xf32>)
      -> (tensor<1x8192x1x64xf32>, tensor<1x8192x1x64xf32>, tensor<1x8192x1x128xf32>, tensor<1x8192x1xf32>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<1x8192x1x64xf32>, tensor<1x8192x1x64xf32>, tensor<1x8192x1x128xf32>, tensor<1x8192x1xf32>
}

// -----

// CHECK-NOT: Scheduled
// CHECK-LABEL: @two_segments
// CHECK: scf.forall ({{.*}}) in (2, 1)
func.func @two_segments(%q: tensor<1x8192x1x64xf32>, %v: tensor<1x8192x1x128xf32>, %g: tensor<1x8192x1xf32>)
    -> (tensor<1x8192x1x128xf32>, tensor<1x1x64x128xf32>) {
  %0:2 = linrec.scan %q, %q, %v decay(%g) {segments = 2}
      : (tensor<1x8192x1x64xf32>, tensor<1x8192x1x64xf32>, tensor<1x8192x1x128xf32>, tensor<1x8192x1xf32>)
      -> (tensor<1x8192x1x128xf32>, tensor<1x1x64x128xf32>)
  return %0#0, %0#1 : tensor<1x8192x1x128xf32>, tensor<1x1x64x128xf32>
}

// -----

// A program may say which machine it is for.
// CHECK: Scheduled {{.*}} processors=2, {{.*}} segments=1, valueBlocks=2
// CHECK: module attributes {drawloom.machine = {processors = 2 : i64}}
// CHECK-LABEL: @for_two_processors
module attributes {drawloom.machine = {processors = 2 : i64}} {
func.func @for_two_processors(%q: tensor<1x8192x1x64xf32>, %v: tensor<1x8192x1x128xf32>, %g: tensor<1x8192x1xf32>)
    -> (tensor<1x8192x1x128xf32>, tensor<1x1x64x128xf32>) {
  %0:2 = linrec.scan %q, %q, %v decay(%g)
      : (tensor<1x8192x1x64xf32>, tensor<1x8192x1x64xf32>, tensor<1x8192x1x128xf32>, tensor<1x8192x1xf32>)
      -> (tensor<1x8192x1x128xf32>, tensor<1x1x64x128xf32>)
  return %0#0, %0#1 : tensor<1x8192x1x128xf32>, tensor<1x1x64x128xf32>
}
}
