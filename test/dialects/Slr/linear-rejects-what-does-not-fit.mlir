// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @rank(%x: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @below {{multiplies rows of a matrix, and x is a 'tensor<6xf32>'}}
  %y = slr.linear %x() {
    %0 = slr.identity 6
    slr.yield %0 : !slr.term<6x6>
  } : tensor<6xf32>, () -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// -----

func.func @association(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  // expected-error @below {{has association 'best'; there are 'auto', 'parts' and 'matrix'}}
  %y = slr.linear %x() attributes {association = "best"} {
    %0 = slr.identity 6
    slr.yield %0 : !slr.term<6x6>
  } : tensor<2x6xf32>, () -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// -----

func.func @leaf(%x: tensor<2x6xf32>, %w: tensor<6x6xf64>) -> tensor<2x6xf32> {
  // expected-error @below {{leaf 0 has elements of 'f64', the rows of 'f32'}}
  %y = slr.linear %x(%w) {
  ^bb0(%w0: tensor<6x6xf64>):
    %0 = slr.dense %w0 : tensor<6x6xf64>
    slr.yield %0 : !slr.term<6x6>
  } : tensor<2x6xf32>, (tensor<6x6xf64>) -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// -----

func.func @arguments(%x: tensor<2x6xf32>, %w: tensor<6x6xf32>) -> tensor<2x6xf32> {
  // expected-error @below {{has a region with arguments of 'tensor<6x4xf32>' for leaves of 'tensor<6x6xf32>'}}
  %y = slr.linear %x(%w) {
  ^bb0(%w0: tensor<6x4xf32>):
    %0 = slr.identity 6
    slr.yield %0 : !slr.term<6x6>
  } : tensor<2x6xf32>, (tensor<6x6xf32>) -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// -----

func.func @inputs(%x: tensor<2x6xf32>) -> tensor<2x4xf32> {
  // expected-error @below {{term 0 has 4 inputs, and rows of x are of type 'tensor<2x6xf32>'}}
  %y = slr.linear %x() {
    %0 = slr.identity 4
    slr.yield %0 : !slr.term<4x4>
  } : tensor<2x6xf32>, () -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

func.func @result(%x: tensor<2x6xf32>) -> tensor<2x4xf32> {
  // expected-error @below {{result 0 is a 'tensor<2x4xf32>', and x of 'tensor<2x6xf32>' times '!slr.term<6x6>' is not}}
  %y = slr.linear %x() {
    %0 = slr.identity 6
    slr.yield %0 : !slr.term<6x6>
  } : tensor<2x6xf32>, () -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

func.func @count(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  // expected-error @below {{has 1 results, and its region yields 2 terms}}
  %y = slr.linear %x() {
    %0 = slr.identity 6
    slr.yield %0, %0 : !slr.term<6x6>, !slr.term<6x6>
  } : tensor<2x6xf32>, () -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// -----

func.func @matrix(%w: tensor<6x4xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{result 0 is a 'tensor<4x6xf32>', and '!slr.term<6x4>' is not}}
  %m = slr.materialize(%w) {
  ^bb0(%w0: tensor<6x4xf32>):
    %0 = slr.dense %w0 : tensor<6x4xf32>
    slr.yield %0 : !slr.term<6x4>
  } : (tensor<6x4xf32>) -> tensor<4x6xf32>
  return %m : tensor<4x6xf32>
}

// -----

func.func @other_op(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %y = slr.linear %x() {
    // expected-error @below {{'arith.constant' op makes no term, and stands in the region of slr.linear: what it computes is computed in front of it, and is a leaf}}
    %w = arith.constant dense<1.0> : tensor<6x6xf32>
    %0 = slr.dense %w : tensor<6x6xf32>
    slr.yield %0 : !slr.term<6x6>
  } : tensor<2x6xf32>, () -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}
