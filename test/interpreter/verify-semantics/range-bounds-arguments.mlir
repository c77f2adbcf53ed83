// RUN: drawloom-opt %s --canonicalize --verify-semantics=5 | FileCheck %s

// Index 7 is the only one inside.
// CHECK: func.func @f
func.func @f(%a: tensor<?xf32> {check.shape = array<i64: 8>},
             %i: tensor<16xindex> {check.range = array<f64: 7.0, 7.0>}) -> f32 {
  %c3 = arith.constant 3 : index
  %0 = tensor.extract %i[%c3] : tensor<16xindex>
  %1 = tensor.extract %a[%0] : tensor<?xf32>
  return %1 : f32
}
