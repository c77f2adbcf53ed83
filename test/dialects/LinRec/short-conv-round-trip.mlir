// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception


func.func @convolutions(%x: tensor<2x?x4x8xbf16>, %y: tensor<1x64x6xf64>, %w: tensor<4x8x4xf32>, %b: tensor<4x8xf32>, %u: tensor<6x2xf64>,
    %initial: tensor<3x1x6xf64>, %starts: tensor<4xi32>) {
  // CHECK: linrec.short_conv silu %{{.*}}, %{{.*}} bias(%{{.*}}) : (tensor<2x?x4x8xbf16>, tensor<4x8x4xf32>, tensor<4x8xf32>) -> (tensor<2x?x4x8xbf16>, tensor<2x3x4x8xbf16>)
  %0:2 = linrec.short_conv silu %x, %w bias(%b) : (tensor<2x?x4x8xbf16>, tensor<4x8x4xf32>, tensor<4x8xf32>) -> (tensor<2x?x4x8xbf16>, tensor<2x3x4x8xbf16>)
  // CHECK: linrec.short_conv none %{{.*}}, %{{.*}} initial(%{{.*}}) starts(%{{.*}})
  %1:2 = linrec.short_conv none %y, %u initial(%initial) starts(%starts) : (tensor<1x64x6xf64>, tensor<6x2xf64>, tensor<3x1x6xf64>, tensor<4xi32>) -> (tensor<1x64x6xf64>, tensor<3x1x6xf64>)
  // CHECK: linrec.short_conv_bwd silu %{{.*}}, %{{.*}} initial(%{{.*}}) starts(%{{.*}}) cotangents(%{{.*}}, %{{.*}})
  %2:3 = linrec.short_conv_bwd silu %y, %u initial(%initial) starts(%starts) cotangents(%1#0, %1#1) : (tensor<1x64x6xf64>, tensor<6x2xf64>, tensor<3x1x6xf64>, tensor<4xi32>, tensor<1x64x6xf64>, tensor<3x1x6xf64>) -> (tensor<1x64x6xf64>, tensor<6x2xf64>, tensor<3x1x6xf64>)
  return
}
