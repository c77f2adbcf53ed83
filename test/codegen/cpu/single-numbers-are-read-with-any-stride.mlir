// RUN: drawloom-run %s --entry=f --random --compare=interpreter
// RUN: drawloom-run %s --entry=loop --random --compare=interpreter
// RUN: drawloom-run %s --entry=column --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A branch gives memory of different strides, of which one number is read
// for a whole vector.
func.func @f(%a: tensor<1x1xf32>, %b: tensor<1xf32>, %where: tensor<i64>, %which: tensor<i1>, %w: tensor<1x33xf32>) -> tensor<33xf32> {
  %i = tensor.extract %where[] : tensor<i64>
  %at = arith.index_cast %i : i64 to index
  %e = math.exp %a : tensor<1x1xf32>
  %slice = tensor.extract_slice %e[%at, %at] [1, 1] [1, 1] : tensor<1x1xf32> to tensor<1xf32>
  %c = tensor.extract %which[] : tensor<i1>
  %x = scf.if %c -> (tensor<1xf32>) {
    scf.yield %slice : tensor<1xf32>
  } else {
    %y = math.tanh %b : tensor<1xf32>
    scf.yield %y : tensor<1xf32>
  }
  %z = tensor.extract_slice %x[%at] [1] [1] : tensor<1xf32> to tensor<1xf32>
  %zero = arith.constant dense<0.0> : tensor<33xf32>
  %p = linalg.vecmat ins(%z, %w : tensor<1xf32>, tensor<1x33xf32>) outs(%zero : tensor<33xf32>) -> tensor<33xf32>
  return %p : tensor<33xf32>
}

// A loop starts from a number of a column.
func.func @loop(%a: tensor<7x7xf32>, %where: tensor<i64>, %w: tensor<1x33xf32>) -> tensor<33xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %i = tensor.extract %where[] : tensor<i64>
  %at = arith.index_cast %i : i64 to index
  %e = math.exp %a : tensor<7x7xf32>
  %slice = tensor.extract_slice %e[3, %at] [1, 1] [1, 1] : tensor<7x7xf32> to tensor<1xf32>
  %x = scf.for %j = %c0 to %c3 step %c1 iter_args(%s = %slice) -> (tensor<1xf32>) {
    %t = math.tanh %s : tensor<1xf32>
    scf.yield %t : tensor<1xf32>
  }
  %zero = arith.constant dense<0.0> : tensor<33xf32>
  %p = linalg.vecmat ins(%x, %w : tensor<1xf32>, tensor<1x33xf32>) outs(%zero : tensor<33xf32>) -> tensor<33xf32>
  return %p : tensor<33xf32>
}

// Each number of a column with gaps is repeated along a row: the vector is not
// filled with one number.
func.func @column(%x: tensor<16xf32>) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %s = tensor.extract_slice %x[0] [8] [2] : tensor<16xf32> to tensor<8xf32>
  %v = vector.transfer_read %s[%c0], %zero {in_bounds = [true, true], permutation_map = affine_map<(d0) -> (d0, 0)>} : tensor<8xf32>, vector<8x4xf32>
  %e = tensor.empty() : tensor<8x4xf32>
  %r = vector.transfer_write %v, %e[%c0, %c0] {in_bounds = [true, true]} : vector<8x4xf32>, tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}
