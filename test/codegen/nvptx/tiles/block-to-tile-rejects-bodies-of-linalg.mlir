// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-block-to-tile -split-input-file -verify-diagnostics

func.func @fills_unknown_extents(%x: tensor<8xf32>, %n: index, %v: f32) -> tensor<8xf32> attributes {drawloom.kernel} {
  %e = tensor.empty(%n, %n) : tensor<?x?xf32>
  // expected-error @+1 {{fills a tensor of unknown extents}}
  %y = linalg.fill ins(%v : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %x : tensor<8xf32>
}

// -----

func.func @fills_as_many_rows_as_there_are_of_nothing(%x: tensor<8xf32>, %n: index, %v: f32) -> tensor<8xf32> attributes {drawloom.kernel} {
  // expected-error @+1 {{a tile of unknown extents, 'tensor<?xf32>', cannot be computed on: gather it to a static shape}}
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = linalg.fill ins(%v : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %x : tensor<8xf32>
}

// -----

func.func @a_diagonal(%x: tensor<8x8xf32>) -> tensor<8xf32> attributes {drawloom.kernel} {
  %e = tensor.empty() : tensor<8xf32>
  // expected-error @+1 {{reads along a diagonal, which has no form on a GPU yet}}
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8x8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func @neighbours(%x: tensor<9xf32>) -> tensor<8xf32> attributes {drawloom.kernel} {
  %e = tensor.empty() : tensor<8xf32>
  // expected-error @+1 {{reads at indices that are not those of its loops, which has no form on a GPU yet}}
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i + 1)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<9xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func @branches(%x: tensor<8xf32>, %c: i1) -> tensor<8xf32> attributes {drawloom.kernel} {
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    // expected-error @+1 {{inside of a linalg op has no form on a GPU yet}}
    %d = scf.if %c -> f32 {
      scf.yield %a : f32
    } else {
      scf.yield %a : f32
    }
    linalg.yield %d : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func @a_difference_the_wrong_way(%x: tensor<8xf32>, %s: tensor<f32>) -> tensor<f32> attributes {drawloom.kernel} {
  // expected-error @+1 {{result 0 is no sum, product, minimum or maximum of one term for each iteration, which has no form on a GPU yet}}
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<8xf32>) outs(%s : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.subf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func @the_sum_so_far(%x: tensor<8xf32>, %s: tensor<f32>, %m: tensor<f32>) -> (tensor<f32>, tensor<f32>) attributes {drawloom.kernel} {
  // expected-error @+1 {{result 0 is no sum, product, minimum or maximum of one term for each iteration}}
  %y:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<8xf32>) outs(%s, %m : tensor<f32>, tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.addf %b, %a : f32
    %most = arith.maximumf %c, %b : f32
    linalg.yield %d, %most : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  return %y#0, %y#1 : tensor<f32>, tensor<f32>
}

// -----

func.func @unknown_extents(%x: tensor<8x8xf32>, %n: index) -> tensor<8x8xf32> attributes {drawloom.kernel} {
  %part = tensor.extract_slice %x[0, 0] [%n, %n] [1, 1] : tensor<8x8xf32> to tensor<?x?xf32>
  // expected-error @+1 {{computes on unknown extents, which has no form on a GPU yet}}
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%part : tensor<?x?xf32>) {
  ^bb0(%a: f32):
    linalg.yield %a : f32
  } -> tensor<?x?xf32>
  return %x : tensor<8x8xf32>
}

// -----

func.func @writes_elsewhere(%x: tensor<8xf32>, %s: tensor<8x1xf32>) -> tensor<8x1xf32> attributes {drawloom.kernel} {
  // expected-error @+1 {{writes at indices that are not those of its loops, which has no form on a GPU yet}}
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, 0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%s : tensor<8x1xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<8x1xf32>
  return %y : tensor<8x1xf32>
}

// -----

func.func @memory(%m: memref<8xf32>, %x: tensor<8xf32>) -> tensor<8xf32> attributes {drawloom.kernel} {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{'linalg.fill' op works on memory instead of tensors, which has no form on a GPU yet}}
  linalg.fill ins(%zero : f32) outs(%m : memref<8xf32>)
  return %x : tensor<8xf32>
}
