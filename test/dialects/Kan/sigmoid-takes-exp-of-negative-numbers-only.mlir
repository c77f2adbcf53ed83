// RUN: drawloom-opt %s --decompose-graph | FileCheck %s

// CHECK-LABEL: func.func @sigmoid
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK: %[[A:.*]] = math.absf %[[X]]
// CHECK: %[[N:.*]] = arith.negf %[[A]]
// CHECK: math.exp %[[N]]
// CHECK-NOT: math.exp
func.func @sigmoid(%x: f32) -> f32 {
  %0 = kan.sigmoid %x : f32
  return %0 : f32
}
