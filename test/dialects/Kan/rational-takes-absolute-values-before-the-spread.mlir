// RUN: drawloom-opt %s --decompose-graph | FileCheck %s

// CHECK-LABEL: func.func @abs_terms
// CHECK-SAME: %[[B:[a-z0-9]*]]: tensor<2x1xf32>)
// CHECK: math.absf %[[B]] : tensor<2x1xf32>
func.func @abs_terms(%x: tensor<4x8xf32>, %a: tensor<1x2xf32>, %b: tensor<2x1xf32>) -> tensor<4x8xf32> {
  %0 = kan.rational %x, %a, %b : tensor<4x8xf32>, tensor<1x2xf32>, tensor<2x1xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @abs_sum
// CHECK-NOT: math.absf {{.*}}tensor
// CHECK: math.absf %{{.*}} : f32
func.func @abs_sum(%x: tensor<4x8xf32>, %a: tensor<1x2xf32>, %b: tensor<2x1xf32>) -> tensor<4x8xf32> {
  %0 = kan.rational %x, %a, %b form(abs_sum) : tensor<4x8xf32>, tensor<1x2xf32>, tensor<2x1xf32>
  return %0 : tensor<4x8xf32>
}
