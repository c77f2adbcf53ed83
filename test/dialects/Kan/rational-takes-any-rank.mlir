// RUN: drawloom-opt %s --decompose-graph | FileCheck %s

// CHECK: #[[CHANNEL:.*]] = affine_map<(d0, d1, d2, d3) -> (d3)>
// CHECK-LABEL: func.func @rank4
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel"]
// CHECK-SAME: outs(%{{.*}} : tensor<2x?x3x8xf64>)
func.func @rank4(%x: tensor<2x?x3x8xf64>, %a: tensor<1x2xf64>, %b: tensor<2x1xf64>) -> tensor<2x?x3x8xf64> {
  %0 = kan.rational %x, %a, %b : tensor<2x?x3x8xf64>, tensor<1x2xf64>, tensor<2x1xf64>
  return %0 : tensor<2x?x3x8xf64>
}
