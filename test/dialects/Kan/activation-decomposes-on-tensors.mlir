// RUN: drawloom-opt %s --decompose-graph | FileCheck %s

// CHECK-LABEL: func.func @leaky
// CHECK-SAME: (%[[X:.*]]: tensor<4x?xf32>)
// CHECK-DAG: arith.cmpf ugt, %[[X]], %{{.*}} : tensor<4x?xf32>
// CHECK-DAG: arith.mulf %[[X]], %{{.*}} : tensor<4x?xf32>
// CHECK: arith.select
// CHECK-NOT: kan.
func.func @leaky(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %0 = kan.leaky_relu %x : tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}
