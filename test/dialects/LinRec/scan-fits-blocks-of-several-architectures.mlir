// RUN: env DRAWLOOM_PROCESSORS=64 drawloom-translate %s --mlir-to-artifact --target=cuda --arch=sm_90a,sm_100a -o %t
// RUN: test -s %t

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Two machines of which the same is known: each is still compiled from the start, until its blocks fit.
func.func @alone(%q: tensor<1x64x2x1024xf32>, %v: tensor<1x64x2x16xf32>, %g: tensor<1x64x2x1024xf32>) -> tensor<1x64x2x16xf32> {
  %o, %final = linrec.scan %q, %q, %v decay(%g)
      : (tensor<1x64x2x1024xf32>, tensor<1x64x2x1024xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x1024xf32>) -> (tensor<1x64x2x16xf32>, tensor<1x2x1024x16xf32>)
  return %o : tensor<1x64x2x16xf32>
}
