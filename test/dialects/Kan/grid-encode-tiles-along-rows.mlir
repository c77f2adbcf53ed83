// RUN: drawloom-opt %s --transform-interpreter | FileCheck %s

// CHECK-LABEL: func.func @encode
// CHECK: scf.for %[[ROW:[a-z0-9]+]] =
// CHECK: %[[X:.*]] = tensor.extract_slice %{{.*}}[%[[ROW]], 0] [32, 2] [1, 1]
// CHECK: kan.grid_encode %[[X]], %{{.*}} : tensor<32x2xf32>, tensor<2x64x4xf32> -> tensor<32x8xf32>
func.func @encode(%x: tensor<128x2xf32>, %t: tensor<2x64x4xf32>) -> tensor<128x8xf32> {
  %y = kan.grid_encode %x, %t {base_resolution = 4, growth = 2.0}
      : tensor<128x2xf32>, tensor<2x64x4xf32> -> tensor<128x8xf32>
  return %y : tensor<128x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["kan.grid_encode"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [32] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
