// RUN: drawloom-opt %s --make-total --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @minibatch
// CHECK-SAME: (%[[X:.+]]: tensor<64x8xf32>, %[[AT:.+]]: index)
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0 : index
// CHECK-DAG: %[[LAST:.+]] = arith.constant 32 : index
// CHECK: %[[LOW:.+]] = arith.minsi %[[AT]], %[[LAST]]
// CHECK: %[[HERE:.+]] = arith.maxsi %[[LOW]], %[[ZERO]]
// CHECK: tensor.extract_slice %[[X]][%[[HERE]], 0] [32, 8] [1, 1]
func.func @minibatch(%x: tensor<64x8xf32>, %at: index) -> tensor<32x8xf32> {
  %y = tensor.extract_slice %x[%at, 0] [32, 8] [1, 1] : tensor<64x8xf32> to tensor<32x8xf32>
  return %y : tensor<32x8xf32>
}

// CHECK-LABEL: func.func @open
// CHECK-SAME: (%[[X:.+]]: tensor<?xf32>, %[[AT:.+]]: index, %[[N:.+]]: index)
// CHECK-DAG: %[[ALL:.+]] = tensor.dim %[[X]]
// CHECK: %[[LAST:.+]] = affine.apply #{{.+}}()[%[[ALL]], %[[N]]]
// CHECK: %[[LOW:.+]] = arith.minsi %[[AT]], %[[LAST]]
// CHECK: %[[HERE:.+]] = arith.maxsi %[[LOW]]
// CHECK: tensor.extract_slice %[[X]][%[[HERE]]] [%[[N]]] [1]
func.func @open(%x: tensor<?xf32>, %at: index, %n: index) -> tensor<?xf32> {
  %y = tensor.extract_slice %x[%at] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  return %y : tensor<?xf32>
}
