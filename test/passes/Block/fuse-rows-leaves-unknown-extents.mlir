// RUN: drawloom-opt %s --fuse-rows --remarks-filter=fuse-rows --verify-semantics 2>&1 | FileCheck %s

// CHECK: remark: [Missed] NotFused {{.*}} Reason="an extent is not known that is not the rows'; give the function's arguments static shapes"
// CHECK-LABEL: func.func @partly
// CHECK-NOT: scf.forall
// CHECK: linalg.matmul
func.func @partly(%x: tensor<128x16xf32>, %w: tensor<16x8xf32>, %y: tensor<?x8xf32> {check.shape = array<i64: 128, 8>}) -> (tensor<128x8xf32>, tensor<?x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x8xf32>) -> tensor<128x8xf32>
  %z = linalg.matmul ins(%x, %w : tensor<128x16xf32>, tensor<16x8xf32>) outs(%start : tensor<128x8xf32>) -> tensor<128x8xf32>
  %c = tensor.cast %z : tensor<128x8xf32> to tensor<?x8xf32>
  %s = linalg.add ins(%c, %y : tensor<?x8xf32>, tensor<?x8xf32>) outs(%y : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %z, %s : tensor<128x8xf32>, tensor<?x8xf32>
}
