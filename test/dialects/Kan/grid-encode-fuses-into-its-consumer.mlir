// RUN: drawloom-opt %s --transform-interpreter --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @fused
// CHECK: scf.for
// CHECK: kan.grid_encode {{.*}} -> tensor<32x8xf32>
// CHECK: linalg.exp {{.*}} -> tensor<32x8xf32>
func.func @fused(%x: tensor<128x2xf32>, %t: tensor<2x64x4xf32>) -> tensor<128x8xf32> {
  %y = kan.grid_encode %x, %t {base_resolution = 4, growth = 2.0}
      : tensor<128x2xf32>, tensor<2x64x4xf32> -> tensor<128x8xf32>
  %empty = tensor.empty() : tensor<128x8xf32>
  %z = linalg.exp ins(%y : tensor<128x8xf32>) outs(%empty : tensor<128x8xf32>) -> tensor<128x8xf32>
  return %z : tensor<128x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.exp"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.fuse %op tile_sizes [32] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
