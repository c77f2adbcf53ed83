// RUN: drawloom-opt %s --distribute-ops --verify-semantics | FileCheck %s

// CHECK-LABEL: func.func @tall
// CHECK: scf.forall ({{.*}}) = (0) to (4096) step (128)
// CHECK: linalg.matmul ins({{.*}} : tensor<128x256xf32>, tensor<256x256xf32>)
func.func @tall(%a: tensor<4096x256xf32>, %b: tensor<256x256xf32>, %c: tensor<4096x256xf32>) -> tensor<4096x256xf32> {
  %y = linalg.matmul ins(%a, %b : tensor<4096x256xf32>, tensor<256x256xf32>) outs(%c : tensor<4096x256xf32>) -> tensor<4096x256xf32>
  return %y : tensor<4096x256xf32>
}

// Too few pieces of rows alone.
// CHECK-LABEL: func.func @wide
// CHECK: scf.forall ({{.*}}) = (0, 0) to (256, 2048) step (128, 256)
func.func @wide(%a: tensor<256x256xf32>, %b: tensor<256x2048xf32>, %c: tensor<256x2048xf32>) -> tensor<256x2048xf32> {
  %y = linalg.matmul ins(%a, %b : tensor<256x256xf32>, tensor<256x2048xf32>) outs(%c : tensor<256x2048xf32>) -> tensor<256x2048xf32>
  return %y : tensor<256x2048xf32>
}
