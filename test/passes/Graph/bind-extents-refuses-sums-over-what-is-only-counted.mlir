// RUN: drawloom-opt %s --bind-extents --split-input-file --verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Nobody reads %x, whose rows are added up: a program for so many rows would
// not know that these are rows.
func.func @counted(%x: tensor<?x4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %y = linalg.fill ins(%one : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %z = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @+1 {{adds up over an extent of arguments whose values it does not read: such a program is compiled for known extents only}}
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}
      ins(%y : tensor<?x4xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %n0 = arith.addf %sum, %in : f32
    linalg.yield %n0 : f32
  } -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// -----

// Whoever only repeats values for each row adds nothing up.
func.func @repeated(%x: tensor<?x4xf32>, %v: tensor<4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%v : tensor<4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// In another shape, and beside a result that is read for it.
func.func @reshaped(%x: tensor<?x4xf32>, %t: tensor<?x4xf32>) -> (tensor<f32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %y:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<?x4xf32>) outs(%e, %e : tensor<?x4xf32>, tensor<?x4xf32>) {
  ^bb0(%in: f32, %a: f32, %b: f32):
    %v = math.exp %in : f32
    linalg.yield %one, %v : f32, f32
  } -> (tensor<?x4xf32>, tensor<?x4xf32>)
  %flat = tensor.collapse_shape %y#0 [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  %z = arith.constant dense<0.0> : tensor<f32>
  // expected-error @+1 {{adds up over an extent of arguments whose values it does not read}}
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%flat : tensor<?xf32>) outs(%z : tensor<f32>) {
  ^bb0(%in: f32, %sum: f32):
    %r = arith.addf %sum, %in : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %s, %y#1 : tensor<f32>, tensor<?x4xf32>
}

// -----

// Nobody reads %x, but for a result that nobody reads.
func.func @beside_an_unread_result(%x: tensor<?x4xf32>, %a: tensor<f32>, %start: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<4x?xf32>
  // expected-error @+1 {{adds up over an extent of arguments whose values it does not read}}
  %s:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "reduction"]} ins(%x, %a : tensor<?x4xf32>, tensor<f32>) outs(%start, %e : tensor<4xf32>, tensor<4x?xf32>) {
  ^bb0(%row: f32, %in: f32, %sum: f32, %out: f32):
    %r = arith.addf %sum, %in : f32
    linalg.yield %r, %row : f32, f32
  } -> (tensor<4xf32>, tensor<4x?xf32>)
  return %s#0 : tensor<4xf32>
}
