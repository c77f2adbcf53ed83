// RUN: drawloom-opt %s --decompose-graph | FileCheck %s

// An unordered comparison is true, so that the NaN itself is chosen.
// CHECK-LABEL: func.func @relu
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK: %[[P:.*]] = arith.cmpf ugt, %[[X]], %[[ZERO:.*]] : f32
// CHECK: arith.select %[[P]], %[[X]], %[[ZERO]] : f32
func.func @relu(%x: f32) -> f32 {
  %0 = kan.relu %x : f32
  return %0 : f32
}
