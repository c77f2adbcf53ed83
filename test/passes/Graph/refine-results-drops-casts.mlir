// RUN: drawloom-opt %s --refine-results --canonicalize --verify-semantics | FileCheck %s

// CHECK: func.func @f(%[[X:.*]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[X]]
func.func @f(%x: tensor<4x8xf32>) -> tensor<?x8xf32> {
  %0 = tensor.cast %x : tensor<4x8xf32> to tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK: func.func @less_specific(%{{.*}}: tensor<?x8xf32> {{.*}}) -> tensor<4x8xf32>
func.func @less_specific(%x: tensor<?x8xf32> {check.shape = array<i64: 4, 8>}) -> tensor<4x8xf32> {
  %0 = tensor.cast %x : tensor<?x8xf32> to tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// Whoever calls a private function relies on its type.
// CHECK: func.func private @private(%{{.*}}: tensor<4x8xf32>) -> tensor<?x8xf32>
func.func private @private(%x: tensor<4x8xf32>) -> tensor<?x8xf32> {
  %0 = tensor.cast %x : tensor<4x8xf32> to tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
