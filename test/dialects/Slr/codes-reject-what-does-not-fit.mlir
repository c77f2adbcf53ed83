// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @rank(%x: tensor<2x6xf32>, %c: tensor<6xi8>, %s: tensor<6x1xf32>) -> tensor<2x2xf32> {
  %y = slr.linear %x(%c, %s) {
  ^bb0(%c0: tensor<6xi8>, %s0: tensor<6x1xf32>):
    // expected-error @below {{the codes of slr.quantized have 2 known extents of at least 1, and this one is a 'tensor<6xi8>'}}
    %0 = slr.quantized nf4 %c0 scales %s0 : tensor<6xi8>, tensor<6x1xf32>
    slr.yield %0 : !slr.term<6x2>
  } : tensor<2x6xf32>, (tensor<6xi8>, tensor<6x1xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

func.func @rows(%x: tensor<2x6xf32>, %c: tensor<6x4xi8>, %s: tensor<5x1xf32>) -> tensor<2x8xf32> {
  %y = slr.linear %x(%c, %s) {
  ^bb0(%c0: tensor<6x4xi8>, %s0: tensor<5x1xf32>):
    // expected-error @below {{there are 6 rows of codes and 5 of scales}}
    %0 = slr.quantized nf4 %c0 scales %s0 : tensor<6x4xi8>, tensor<5x1xf32>
    slr.yield %0 : !slr.term<6x8>
  } : tensor<2x6xf32>, (tensor<6x4xi8>, tensor<5x1xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

func.func @groups(%x: tensor<2x6xf32>, %c: tensor<6x4xi8>, %s: tensor<6x3xf32>) -> tensor<2x8xf32> {
  %y = slr.linear %x(%c, %s) {
  ^bb0(%c0: tensor<6x4xi8>, %s0: tensor<6x3xf32>):
    // expected-error @below {{4 bytes of codes are not 3 groups of one length}}
    %0 = slr.quantized nf4 %c0 scales %s0 : tensor<6x4xi8>, tensor<6x3xf32>
    slr.yield %0 : !slr.term<6x8>
  } : tensor<2x6xf32>, (tensor<6x4xi8>, tensor<6x3xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

func.func @offsets(%x: tensor<2x6xf32>, %c: tensor<6x4xi8>, %s: tensor<6x2xf32>, %o: tensor<6x1xf32>) -> tensor<2x8xf32> {
  %y = slr.linear %x(%c, %s, %o) {
  ^bb0(%c0: tensor<6x4xi8>, %s0: tensor<6x2xf32>, %o0: tensor<6x1xf32>):
    // expected-error @below {{offsets are of the type of the scales, 'tensor<6x2xf32>', not 'tensor<6x1xf32>'}}
    %0 = slr.quantized nf4 %c0 scales %s0 offsets %o0 : tensor<6x4xi8>, tensor<6x2xf32>, tensor<6x1xf32>
    slr.yield %0 : !slr.term<6x8>
  } : tensor<2x6xf32>, (tensor<6x4xi8>, tensor<6x2xf32>, tensor<6x1xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

func.func @neighbours(%x: tensor<2x6xf32>, %v: tensor<6x2x3xf32>, %p: tensor<6x2x3xi8>) -> tensor<2x4xf32> {
  %y = slr.linear %x(%v, %p) {
  ^bb0(%v0: tensor<6x2x3xf32>, %p0: tensor<6x2x3xi8>):
    // expected-error @below {{3 values are not among 2 neighbours, of which there are at most 128}}
    %0 = slr.n_of_m %v0 at %p0 of 2 : tensor<6x2x3xf32>, tensor<6x2x3xi8>
    slr.yield %0 : !slr.term<6x4>
  } : tensor<2x6xf32>, (tensor<6x2x3xf32>, tensor<6x2x3xi8>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

func.func @places(%x: tensor<2x6xf32>, %v: tensor<6x2x2xf32>, %p: tensor<6x2x1xi8>) -> tensor<2x8xf32> {
  %y = slr.linear %x(%v, %p) {
  ^bb0(%v0: tensor<6x2x2xf32>, %p0: tensor<6x2x1xi8>):
    // expected-error @below {{values of 'tensor<6x2x2xf32>' have as many places, not 'tensor<6x2x1xi8>'}}
    %0 = slr.n_of_m %v0 at %p0 of 4 : tensor<6x2x2xf32>, tensor<6x2x1xi8>
    slr.yield %0 : !slr.term<6x8>
  } : tensor<2x6xf32>, (tensor<6x2x2xf32>, tensor<6x2x1xi8>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}
