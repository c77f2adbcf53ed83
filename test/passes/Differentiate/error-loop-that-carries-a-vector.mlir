// RUN: drawloom-opt %s --differentiate -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @f(%x: f32, %v: vector<2xi1>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{cannot be differentiated: the carried value 1 of type 'vector<2xi1>' cannot be kept for the way back; carry scalars or ranked tensors}}
  %y, %z = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x, %w = %v) -> (f32, vector<2xi1>) {
    %c = vector.extract %w[0] : i1 from vector<2xi1>
    %a = math.exp %h : f32
    %b = arith.select %c, %a, %h : f32
    %k = arith.ori %w, %v : vector<2xi1>
    scf.yield %b, %k : f32, vector<2xi1>
  }
  return %y : f32
}

func.func @df(%x: f32, %v: vector<2xi1>, %n: index, %g: f32) -> f32 {
  // expected-note @+1 {{while differentiating '@f'}}
  %y, %dx = ad.vjp @f(%x, %v, %n) cotangents(%g) wrt [0] : (f32, vector<2xi1>, index) -> (f32, f32)
  return %dx : f32
}
