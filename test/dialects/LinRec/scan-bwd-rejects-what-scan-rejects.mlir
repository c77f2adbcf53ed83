// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @rejected(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x7xf32>, %v: tensor<2x5x4x6xf32>, %d_o: tensor<2x5x4x6xf32>, %d_final: tensor<2x4x8x6xf32>) {
  // expected-error @below {{q and k must have the same size, but have 8 and 7}}
  %0:3 = linrec.scan_bwd %q, %k, %v cotangents(%d_o, %d_final)
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x7xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x5x4x7xf32>, tensor<2x5x4x6xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>, %lowrank: tensor<2x5x4x8xf32>, %d_o: tensor<2x5x4x6xf32>, %d_final: tensor<2x4x8x6xf32>) {
  // expected-error @below {{lowrank needs erase: what was read off the state is what it writes back}}
  %0:4 = linrec.scan_bwd %q, %k, %v lowrank(%lowrank) cotangents(%d_o, %d_final)
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4x8xf32>)
  return
}

// -----

func.func @rejected(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x6xf32>, %beta: tensor<2x5x4xf32>, %bonus: tensor<4x8xf32>, %d_o: tensor<2x5x4x6xf32>, %d_final: tensor<2x4x8x6xf32>) {
  // expected-error @below {{bonus excludes beta and erase}}
  %0:5 = linrec.scan_bwd %q, %k, %v beta(%beta) bonus(%bonus) cotangents(%d_o, %d_final)
      : (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4xf32>, tensor<4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x4x8x6xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x5x4xf32>, tensor<4x8xf32>)
  return
}
