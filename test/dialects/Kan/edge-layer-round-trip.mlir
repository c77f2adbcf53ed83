// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK: kan.edge_layer %{{.*}}, %{{.*}} by bspline order 3 (%{{.*}} : tensor<12x64xf32>) : tensor<?x64xf32>, tensor<8x64x32xf32> -> tensor<?x32xf32>
func.func @splines(%x: tensor<?x64xf32>, %c: tensor<8x64x32xf32>, %t: tensor<12x64xf32>) -> tensor<?x32xf32> {
  %y = kan.edge_layer %x, %c by bspline order 3 (%t : tensor<12x64xf32>) : tensor<?x64xf32>, tensor<8x64x32xf32> -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// CHECK: kan.edge_layer %{{.*}}, %{{.*}} by chebyshev : tensor<5x64xbf16>, tensor<4x64x32xbf16> -> tensor<5x32xbf16>
func.func @polynomials(%x: tensor<5x64xbf16>, %c: tensor<4x64x32xbf16>) -> tensor<5x32xbf16> {
  %y = kan.edge_layer %x, %c by chebyshev : tensor<5x64xbf16>, tensor<4x64x32xbf16> -> tensor<5x32xbf16>
  return %y : tensor<5x32xbf16>
}

// CHECK: kan.edge_layer %{{.*}}, %{{.*}} by morlet (%{{.*}}, %{{.*}} : tensor<1x64x32xf32>, tensor<1xf32>) : tensor<?x64xf32>
func.func @wavelets(%x: tensor<?x64xf32>, %c: tensor<1x64x32xf32>, %t: tensor<1x64x32xf32>, %s: tensor<1xf32>) -> tensor<?x32xf32> {
  %y = kan.edge_layer %x, %c by morlet (%t, %s : tensor<1x64x32xf32>, tensor<1xf32>) : tensor<?x64xf32>, tensor<1x64x32xf32> -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}
