// RUN: drawloom-opt %s --canonicalize | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Upstream's patterns make such reshapes where a call gives extents, and crash over them where the source is a cast.
// CHECK-LABEL: func.func @cast
// CHECK: tensor.expand_shape %arg0 {{.*}} : tensor<1xf64> into tensor<1x1xf64>
func.func @cast(%x: tensor<1xf64>, %table: tensor<4x2xf64>, %rows: tensor<3xi32>) -> (tensor<?x1xf64>, tensor<3x2xf64>) {
  %c = tensor.cast %x : tensor<1xf64> to tensor<?xf64>
  %e = tensor.expand_shape %c [[0, 1]] output_shape [1, 1] : tensor<?xf64> into tensor<?x1xf64>
  // The dialect is there.
  %init = tensor.empty() : tensor<3x2xf64>
  %t = block.gather %table[%rows] outs(%init) : tensor<4x2xf64>[tensor<3xi32>] -> tensor<3x2xf64>
  return %e, %t : tensor<?x1xf64>, tensor<3x2xf64>
}

// CHECK-LABEL: func.func @part
// CHECK: %[[N:.*]] = tensor.dim
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2, 3]] output_shape [2, 3, %[[N]], 2] : tensor<6x?xf64> into tensor<2x3x?x2xf64>
func.func @part(%x: tensor<?x?xf64>, %m: tensor<?xf64>) -> tensor<?x3x?x2xf64> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %m, %c0 : tensor<?xf64>
  %e = tensor.expand_shape %x [[0, 1], [2, 3]] output_shape [2, 3, %n, 2] : tensor<?x?xf64> into tensor<?x3x?x2xf64>
  return %e : tensor<?x3x?x2xf64>
}
