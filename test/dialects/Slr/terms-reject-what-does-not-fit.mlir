// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @matrix(%x: tensor<2x6xf32>, %w: tensor<6xf32>) -> tensor<2x6xf32> {
  %y = slr.linear %x(%w) {
  ^bb0(%w0: tensor<6xf32>):
    // expected-error @below {{the matrix of slr.dense has 2 known extents, and this one is a 'tensor<6xf32>'}}
    %0 = slr.dense %w0 : tensor<6xf32>
    slr.yield %0 : !slr.term<6x6>
  } : tensor<2x6xf32>, (tensor<6xf32>) -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// -----

func.func @no_rank(%x: tensor<2x6xf32>, %a: tensor<6x0xf32>, %b: tensor<0x6xf32>) -> tensor<2x6xf32> {
  %y = slr.linear %x(%a, %b) {
  ^bb0(%a0: tensor<6x0xf32>, %b0: tensor<0x6xf32>):
    // expected-error @below {{the matrix of slr.dense has known extents of at least 1}}
    %0 = slr.dense %a0 : tensor<6x0xf32>
    %1 = slr.dense %b0 : tensor<0x6xf32>
    %2 = slr.product %0, %1 : !slr.term<6x0>, !slr.term<0x6>
    slr.yield %2 : !slr.term<6x6>
  } : tensor<2x6xf32>, (tensor<6x0xf32>, tensor<0x6xf32>) -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// -----

func.func @permutation(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %y = slr.linear %x() {
    // expected-error @below {{a permutation has each number below 2 once}}
    %0 = slr.permute [2, 3] by [0, 0]
    slr.yield %0 : !slr.term<6x6>
  } : tensor<2x6xf32>, () -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// -----

func.func @fold(%x: tensor<2x6xf32>) -> tensor<2x1xf32> {
  %y = slr.linear %x() {
    // expected-error @below {{6 elements are not 4 parts of one length}}
    %0 = slr.fold 6 into 4 parts
    slr.yield %0 : !slr.term<6x1>
  } : tensor<2x6xf32>, () -> tensor<2x1xf32>
  return %y : tensor<2x1xf32>
}

// -----

func.func @select(%x: tensor<2x6xf32>) -> tensor<2x4xf32> {
  %y = slr.linear %x() {
    // expected-error @below {{4 elements from 3 on are no part of 6}}
    %0 = slr.select 4 from 3 of 6
    slr.yield %0 : !slr.term<6x4>
  } : tensor<2x6xf32>, () -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

func.func @sum(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %y = slr.linear %x() {
    %0 = slr.identity 6
    %1 = slr.fold 6 into 2 parts
    // expected-error @below {{the terms of a sum have equal extents, not '!slr.term<6x6>' and '!slr.term<6x3>'}}
    %2 = slr.sum %0, %1 : !slr.term<6x6>, !slr.term<6x3>
    slr.yield %2 : !slr.term<6x6>
  } : tensor<2x6xf32>, () -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// -----

func.func @product(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %y = slr.linear %x() {
    %0 = slr.fold 6 into 2 parts
    %1 = slr.identity 6
    // expected-error @below {{a factor with 6 inputs stands behind one with 3 outputs}}
    %2 = slr.product %0, %1 : !slr.term<6x3>, !slr.term<6x6>
    slr.yield %2 : !slr.term<6x6>
  } : tensor<2x6xf32>, () -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// -----

func.func @concat(%x: tensor<2x6xf32>) -> tensor<2x9xf32> {
  %y = slr.linear %x() {
    %0 = slr.identity 6
    %1 = slr.identity 3
    // expected-error @below {{terms side by side have equal inputs, not 6 and 3}}
    %2 = slr.concat %0, %1 : !slr.term<6x6>, !slr.term<3x3>
    slr.yield %2 : !slr.term<6x9>
  } : tensor<2x6xf32>, () -> tensor<2x9xf32>
  return %y : tensor<2x9xf32>
}

// -----

func.func @lengths(%x: tensor<2x6xf32>, %m: tensor<5xf32>) -> tensor<2x6xf32> {
  %y = slr.linear %x(%m) {
  ^bb0(%m0: tensor<5xf32>):
    %0 = slr.identity 6
    // expected-error @below {{6 columns have as many lengths, not 'tensor<5xf32>'}}
    %1 = slr.normalize_columns %0 to %m0 : !slr.term<6x6>, tensor<5xf32>
    slr.yield %1 : !slr.term<6x6>
  } : tensor<2x6xf32>, (tensor<5xf32>) -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// -----

func.func @hadamard(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %y = slr.linear %x() {
    %0 = slr.identity 6
    %1 = slr.fold 6 into 2 parts
    // expected-error @below {{the factors of an elementwise product have equal extents, not '!slr.term<6x6>' and '!slr.term<6x3>'}}
    %2 = slr.hadamard %0, %1 : !slr.term<6x6>, !slr.term<6x3>
    slr.yield %2 : !slr.term<6x6>
  } : tensor<2x6xf32>, () -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// -----

// expected-error @below {{a term has two extents of at least 1, its inputs and its outputs: !slr.term<64x48>}}
func.func private @one_extent(!slr.term<4>)

// -----

// expected-error @below {{slr has one type, 'term'}}
func.func private @other_type(!slr.weight<4x4>)
