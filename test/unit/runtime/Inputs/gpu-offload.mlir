// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// As a training step does, it reads at its end, backwards, what it computed first.
#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>

#row = affine_map<(i, j) -> (i)>
// Adds the means of the columns.
func.func private @shift_column(%x: tensor<384x704xf32>) -> tensor<384x704xf32> {
  %zero = arith.constant dense<0.0> : tensor<704xf32>
  %sums = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<384x704xf32>) outs(%zero : tensor<704xf32>) {
  ^bb0(%u: f32, %o: f32):
    %v = arith.addf %u, %o : f32
    linalg.yield %v : f32
  } -> tensor<704xf32>
  %e = tensor.empty() : tensor<384x704xf32>
  %y = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sums : tensor<384x704xf32>, tensor<704xf32>) outs(%e : tensor<384x704xf32>) {
  ^bb0(%u: f32, %s: f32, %o: f32):
    %n = arith.constant 0.001 : f32
    %m = arith.mulf %s, %n : f32
    %v = arith.addf %u, %m : f32
    linalg.yield %v : f32
  } -> tensor<384x704xf32>
  return %y : tensor<384x704xf32>
}

// Adds the means of the rows.
func.func private @shift_row(%x: tensor<384x704xf32>) -> tensor<384x704xf32> {
  %zero = arith.constant dense<0.0> : tensor<384xf32>
  %sums = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<384x704xf32>) outs(%zero : tensor<384xf32>) {
  ^bb0(%u: f32, %o: f32):
    %v = arith.addf %u, %o : f32
    linalg.yield %v : f32
  } -> tensor<384xf32>
  %e = tensor.empty() : tensor<384x704xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sums : tensor<384x704xf32>, tensor<384xf32>) outs(%e : tensor<384x704xf32>) {
  ^bb0(%u: f32, %s: f32, %o: f32):
    %n = arith.constant 0.001 : f32
    %m = arith.mulf %s, %n : f32
    %v = arith.addf %u, %m : f32
    linalg.yield %v : f32
  } -> tensor<384x704xf32>
  return %y : tensor<384x704xf32>
}

func.func @chain(%x: tensor<384x704xf32>) -> (tensor<384x704xf32>, tensor<384x704xf32>) {
  %v0 = func.call @shift_column(%x) : (tensor<384x704xf32>) -> tensor<384x704xf32>
  %v1 = func.call @shift_row(%v0) : (tensor<384x704xf32>) -> tensor<384x704xf32>
  %v2 = func.call @shift_column(%v1) : (tensor<384x704xf32>) -> tensor<384x704xf32>
  %v3 = func.call @shift_row(%v2) : (tensor<384x704xf32>) -> tensor<384x704xf32>
  %v4 = func.call @shift_column(%v3) : (tensor<384x704xf32>) -> tensor<384x704xf32>
  %s4 = arith.addf %v4, %v4 : tensor<384x704xf32>
  %g4 = func.call @shift_row(%s4) : (tensor<384x704xf32>) -> tensor<384x704xf32>
  %s3 = arith.addf %g4, %v3 : tensor<384x704xf32>
  %g3 = func.call @shift_column(%s3) : (tensor<384x704xf32>) -> tensor<384x704xf32>
  %s2 = arith.addf %g3, %v2 : tensor<384x704xf32>
  %g2 = func.call @shift_row(%s2) : (tensor<384x704xf32>) -> tensor<384x704xf32>
  %s1 = arith.addf %g2, %v1 : tensor<384x704xf32>
  %g1 = func.call @shift_column(%s1) : (tensor<384x704xf32>) -> tensor<384x704xf32>
  %s0 = arith.addf %g1, %v0 : tensor<384x704xf32>
  %g0 = func.call @shift_row(%s0) : (tensor<384x704xf32>) -> tensor<384x704xf32>
  return %g0, %g2 : tensor<384x704xf32>, tensor<384x704xf32>
}
