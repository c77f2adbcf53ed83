// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-translate --mlir-to-ttir --compile-from=blocks %s | FileCheck %s

// 3 columns become 4. Nothing stands behind the third: in a scan from the end
// that leaves out the own element, the third starts from zero, not the padding.
// CHECK-LABEL: @sums_0
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<4x4xf32>
// CHECK-DAG: %[[LAST:.*]] = arith.constant dense<2> : tensor<1x4xi32>
// CHECK: "tt.scan"({{.*}}reverse = true
// CHECK: %[[IS_LAST:.*]] = arith.cmpi eq, %{{.*}}, %[[LAST]] : tensor<1x4xi32>
// CHECK: %[[MASK:.*]] = tt.broadcast %[[IS_LAST]]
// CHECK: arith.select %[[MASK]], %[[ZERO]], %{{.*}}
func.func @sums(%x: tensor<8x3xf32>) -> tensor<8x3xf32> {
  %empty = tensor.empty() : tensor<8x3xf32>
  %y = scf.forall (%block) in (2) shared_outs(%out = %empty) -> (tensor<8x3xf32>) {
    %row = affine.apply affine_map<(i) -> (i * 4)>(%block)
    %t = tensor.extract_slice %x[%row, 0] [4, 3] [1, 1] : tensor<8x3xf32> to tensor<4x3xf32>
    %init = tensor.empty() : tensor<4x3xf32>
    %s = block.scan add exclusive reverse %t along 1 outs(%init) : tensor<4x3xf32> -> tensor<4x3xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %out[%row, 0] [4, 3] [1, 1] : tensor<4x3xf32> into tensor<8x3xf32>
    }
  }
  return %y : tensor<8x3xf32>
}
