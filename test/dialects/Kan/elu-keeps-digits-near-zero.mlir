// RUN: drawloom-opt %s --decompose-graph | FileCheck %s

// expm1, not exp(x) - 1, and of an argument that cannot overflow.
// CHECK-LABEL: func.func @elu
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK: %[[M:.*]] = arith.minimumf %[[X]], %{{.*}} : f32
// CHECK: math.expm1 %[[M]] : f32
// CHECK-NOT: math.exp
func.func @elu(%x: f32) -> f32 {
  %0 = kan.elu %x : f32
  return %0 : f32
}
