// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-block-to-tile=keep-while=true | FileCheck %s
// RUN: not drawloom-opt %s --nvptx-block-to-tile 2>&1 | FileCheck %s --check-prefix=REFUSED

// What is carried is a tile, and a row of it is read from a copy.
// REFUSED: error: 'scf.while' op has no form on a GPU yet
// CHECK-LABEL: func.func @halve(
// CHECK: %[[X:.*]] = tile.load
// CHECK: scf.while (%[[N:.*]] = %{{.*}}, %[[T:.*]] = %[[X]]) : (index, tensor<4x8xf32>) -> (index, tensor<4x8xf32>)
// CHECK: scf.condition(%{{.*}}) %[[N]], %[[T]] : index, tensor<4x8xf32>
// CHECK: ^bb0(%{{.*}}: index, %[[S:.*]]: tensor<4x8xf32>):
// CHECK: %[[COPY:.*]] = tile.alloc
// CHECK: tile.store %[[S]], %[[COPY]]
// CHECK: memref.subview %[[COPY]]
// CHECK: scf.yield %{{.*}}, %{{.*}} : index, tensor<4x8xf32>
func.func @halve(%x: tensor<4x8xf32>, %n: index) -> tensor<4x8xf32> attributes {drawloom.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4x8xf32>
  %y = scf.forall (%i) in (1) shared_outs(%out = %e) -> (tensor<4x8xf32>) {
    %r:2 = scf.while (%k = %n, %t = %x) : (index, tensor<4x8xf32>) -> (index, tensor<4x8xf32>) {
      %more = arith.cmpi sgt, %k, %c0 : index
      scf.condition(%more) %k, %t : index, tensor<4x8xf32>
    } do {
    ^bb0(%k: index, %t: tensor<4x8xf32>):
      %less = arith.subi %k, %c1 : index
      %row = tensor.extract_slice %t[0, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
      %b = tensor.empty() : tensor<4x8xf32>
      %rows = linalg.broadcast ins(%row : tensor<8xf32>) outs(%b : tensor<4x8xf32>) dimensions = [0]
      %sum = arith.addf %t, %rows : tensor<4x8xf32>
      scf.yield %less, %sum : index, tensor<4x8xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %r#1 into %out[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<4x8xf32>
    }
  }
  return %y : tensor<4x8xf32>
}
