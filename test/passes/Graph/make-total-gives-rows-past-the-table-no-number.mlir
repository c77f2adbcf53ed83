// RUN: drawloom-opt %s --make-total --verify-semantics | FileCheck %s

// CHECK-LABEL: func.func @gather
// CHECK: %[[ROWS:.+]] = linalg.generic
// CHECK: %[[THERE:.+]] = arith.cmpi slt
// CHECK: arith.select %[[THERE]], %{{.+}}, %{{.+}} : i32
// CHECK: block.gather %{{.+}}[%[[ROWS]]]
func.func @gather(%x: tensor<4x8xf32>) -> tensor<3x8xf32> {
  %rows = arith.constant dense<[4, 3, -1]> : tensor<3xi32>
  %init = tensor.empty() : tensor<3x8xf32>
  %y = block.gather %x[%rows] outs(%init) : tensor<4x8xf32>[tensor<3xi32>] -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// CHECK-LABEL: func.func @known
// CHECK-NOT: linalg.generic
func.func @known(%x: tensor<4x8xf32>) -> tensor<3x8xf32> {
  %rows = arith.constant dense<[0, 3, -1]> : tensor<3xi32>
  %init = tensor.empty() : tensor<3x8xf32>
  %y = block.gather %x[%rows] outs(%init) : tensor<4x8xf32>[tensor<3xi32>] -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}
