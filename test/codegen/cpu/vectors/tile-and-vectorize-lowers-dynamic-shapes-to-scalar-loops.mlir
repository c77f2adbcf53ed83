// RUN: drawloom-opt %s --cpu-tile-and-vectorize --cpu-verify-vectors --verify-semantics | FileCheck %s

// CHECK-LABEL: func.func @unknown
// CHECK: %[[N:.*]] = tensor.dim
// CHECK: scf.for %{{.*}} = %c0 to %[[N]] step %c1
// CHECK: tensor.extract
// CHECK: tensor.insert
func.func @unknown(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = linalg.exp ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %z : tensor<?xf32>
}
