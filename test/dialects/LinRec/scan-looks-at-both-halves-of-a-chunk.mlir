// RUN: drawloom-opt %s --decompose-graph --verify-semantics -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products of decays leave the range of numbers where half a chunk decays by
// exp(-960): such a chunk goes token by token, whichever half it is.

func.func @first(%q: tensor<1x64x2x8xf64>, %k: tensor<1x64x2x8xf64>, %v: tensor<1x64x2x4xf64>) -> (tensor<1x64x2x4xf64>, tensor<1x2x8x4xf64>) {
  %steep = arith.constant -60.0 : f64
  %mild = arith.constant -0.1 : f64
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %empty = tensor.empty() : tensor<1x64x2x8xf64>
  %g = linalg.generic {indexing_maps = [affine_map<(b, t, h, k) -> (b, t, h, k)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%empty : tensor<1x64x2x8xf64>) {
  ^bb0(%out: f64):
    %t = linalg.index 1 : index
    %within = arith.remui %t, %c32 : index
    %is = arith.cmpi ult, %within, %c16 : index
    %x = arith.select %is, %steep, %mild : f64
    linalg.yield %x : f64
  } -> tensor<1x64x2x8xf64>
  %0:2 = linrec.scan %q, %k, %v decay(%g) {chunk = 32}
      : (tensor<1x64x2x8xf64>, tensor<1x64x2x8xf64>, tensor<1x64x2x4xf64>, tensor<1x64x2x8xf64>)
      -> (tensor<1x64x2x4xf64>, tensor<1x2x8x4xf64>)
  return %0#0, %0#1 : tensor<1x64x2x4xf64>, tensor<1x2x8x4xf64>
}

func.func @second(%q: tensor<1x64x2x8xf64>, %k: tensor<1x64x2x8xf64>, %v: tensor<1x64x2x4xf64>) -> (tensor<1x64x2x4xf64>, tensor<1x2x8x4xf64>) {
  %steep = arith.constant -60.0 : f64
  %mild = arith.constant -0.1 : f64
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %empty = tensor.empty() : tensor<1x64x2x8xf64>
  %g = linalg.generic {indexing_maps = [affine_map<(b, t, h, k) -> (b, t, h, k)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%empty : tensor<1x64x2x8xf64>) {
  ^bb0(%out: f64):
    %t = linalg.index 1 : index
    %within = arith.remui %t, %c32 : index
    %is = arith.cmpi uge, %within, %c16 : index
    %x = arith.select %is, %steep, %mild : f64
    linalg.yield %x : f64
  } -> tensor<1x64x2x8xf64>
  %0:2 = linrec.scan %q, %k, %v decay(%g) {chunk = 32}
      : (tensor<1x64x2x8xf64>, tensor<1x64x2x8xf64>, tensor<1x64x2x4xf64>, tensor<1x64x2x8xf64>)
      -> (tensor<1x64x2x4xf64>, tensor<1x2x8x4xf64>)
  return %0#0, %0#1 : tensor<1x64x2x4xf64>, tensor<1x2x8x4xf64>
}
