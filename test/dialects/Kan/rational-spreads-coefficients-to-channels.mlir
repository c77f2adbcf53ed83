// RUN: drawloom-opt %s --decompose-graph | FileCheck %s

// Groups of 24 channels: one vector of 48 entries for each coefficient, so that
// the maps of the evaluation are projected permutations.
// CHECK-DAG: #[[SPREAD:.*]] = affine_map<(d0, d1, d2) -> (d1, d0)>
// CHECK-DAG: #[[ELEMENT:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[CHANNEL:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @groups
// CHECK: linalg.generic {indexing_maps = [#[[SPREAD]],
// CHECK-SAME: outs(%{{.*}} : tensor<2x1x48xf32>)
// CHECK: tensor.collapse_shape {{.*}} into tensor<2x48xf32>
// CHECK: linalg.generic {indexing_maps = [#[[SPREAD]],
// CHECK-SAME: outs(%{{.*}} : tensor<1x2x24xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[ELEMENT]], #[[CHANNEL]], #[[CHANNEL]], #[[CHANNEL]], #[[ELEMENT]]]
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
func.func @groups(%x: tensor<?x48xf32>, %a: tensor<1x2xf32>, %b: tensor<2x1xf32>) -> tensor<?x48xf32> {
  %0 = kan.rational %x, %a, %b : tensor<?x48xf32>, tensor<1x2xf32>, tensor<2x1xf32>
  return %0 : tensor<?x48xf32>
}
