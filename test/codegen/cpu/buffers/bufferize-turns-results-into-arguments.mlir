// RUN: drawloom-opt %s --cpu-bufferize --verify-semantics | FileCheck %s

// CHECK: func.func @f(%[[X:.*]]: memref<4xf32>, %[[S:.*]]: f32, %[[Y:.*]]: memref<4xf32>, %[[T:.*]]: memref<f32>)
// CHECK-SAME: arguments = [tensor<4xf32>, f32]
// CHECK-SAME: results = [tensor<4xf32>, f32]
// CHECK-NOT: alloc
// CHECK: vector.transfer_write {{.*}}, %[[Y]]
// CHECK: memref.store %[[S]], %[[T]][]
func.func @f(%x: tensor<4xf32>, %s: f32) -> (tensor<4xf32>, f32) {
  %c0 = arith.constant 0 : index
  %p = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %v = vector.transfer_read %x[%c0], %p {in_bounds = [true]} : tensor<4xf32>, vector<4xf32>
  %w = arith.addf %v, %v : vector<4xf32>
  %y = vector.transfer_write %w, %e[%c0] {in_bounds = [true]} : vector<4xf32>, tensor<4xf32>
  return %y, %s : tensor<4xf32>, f32
}
