// RUN: drawloom-opt %s --cpu-bufferize --verify-semantics | FileCheck %s

// CHECK: func.func @f(%{{.*}}: memref<4xf32>, %{{.*}}: f32, %{{.*}}: memref<4xf32>, %{{.*}}: memref<f32>)
func.func @f(%x: tensor<4xf32>, %s: f32) -> (tensor<4xf32>, f32) {
  %c0 = arith.constant 0 : index
  %y = tensor.insert %s into %x[%c0] : tensor<4xf32>
  %z = arith.mulf %s, %s : f32
  return %y, %z : tensor<4xf32>, f32
}
