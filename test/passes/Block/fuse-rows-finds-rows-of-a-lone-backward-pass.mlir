// RUN: drawloom-opt %s --differentiate --decompose-graph --merge-elementwise --fuse-rows | FileCheck %s

// One generic yields dx and the coefficients' sums; its row loop is a reduction
// and no other op says that rows are parallel. Tiles are rows, not channels.
func.func private @value(%x: tensor<4096x64xf32>, %a: tensor<1x2xf32>, %b: tensor<1x1xf32>) -> tensor<4096x64xf32> {
  %y = kan.rational %x, %a, %b : tensor<4096x64xf32>, tensor<1x2xf32>, tensor<1x1xf32>
  return %y : tensor<4096x64xf32>
}

// CHECK-LABEL: func.func @backward
// CHECK: scf.forall
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, 0] [64, 64] [1, 1] : tensor<4096x64xf32> to tensor<64x64xf32>
// CHECK: linalg.generic
func.func @backward(%x: tensor<4096x64xf32>, %a: tensor<1x2xf32>, %b: tensor<1x1xf32>, %g: tensor<4096x64xf32>)
    -> (tensor<4096x64xf32>, tensor<1x2xf32>) {
  %r:3 = ad.vjp @value(%x, %a, %b) cotangents(%g) wrt [0, 1]
      : (tensor<4096x64xf32>, tensor<1x2xf32>, tensor<1x1xf32>) -> (tensor<4096x64xf32>, tensor<4096x64xf32>, tensor<1x2xf32>)
  return %r#1, %r#2 : tensor<4096x64xf32>, tensor<1x2xf32>
}
