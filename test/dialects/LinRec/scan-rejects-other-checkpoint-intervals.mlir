// RUN: drawloom-opt %s -split-input-file -verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @rejected(%q: tensor<1x64x4x8xf32>) {
  // expected-error @below {{checkpoint_interval must be positive, but is 0}}
  %0:2 = linrec.scan %q, %q, %q {checkpoint_interval = 0}
      : (tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>, tensor<1x64x4x8xf32>) -> (tensor<1x64x4x8xf32>, tensor<1x4x8x8xf32>)
  return
}
