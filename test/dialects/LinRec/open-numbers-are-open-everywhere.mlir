// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --split-input-file --verify-diagnostics --decompose-graph

func.func @rejected(%q: tensor<?x?x2x4xf32>) -> tensor<2x2x4x4xf32> {
  // expected-error @below {{'linrec.scan' op has no decomposition for these types}}
  // expected-error @below {{leaves the number of sequences open in one of 'tensor<2x2x4x4xf32>' and 'tensor<?x?x2x4xf32>', and not in the other}}
  %o, %final = linrec.scan %q, %q, %q
      : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<2x2x4x4xf32>)
  return %final : tensor<2x2x4x4xf32>
}

// -----

func.func @rejected(%q: tensor<?x?x2x4xf32>, %k: tensor<?x6x2x4xf32>) -> tensor<?x?x2x4xf32> {
  // expected-error @below {{'linrec.scan' op has no decomposition for these types}}
  // expected-error @below {{leaves the number of tokens open in one of 'tensor<?x6x2x4xf32>' and 'tensor<?x?x2x4xf32>', and not in the other}}
  %o, %final = linrec.scan %q, %k, %q
      : (tensor<?x?x2x4xf32>, tensor<?x6x2x4xf32>, tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x4x4xf32>)
  return %o : tensor<?x?x2x4xf32>
}
