// RUN: drawloom-opt %s --decompose-graph | FileCheck %s

// CHECK-LABEL: func.func @f32
// CHECK: math.roundeven
// CHECK-COUNT-4: math.fma %{{.*}} : f32
// CHECK-NOT: math.fma
// CHECK: math.copysign
func.func @f32(%x: f32) -> f32 {
  %0 = kan.sinpi %x : f32
  return %0 : f32
}

// CHECK-LABEL: func.func @f64
// CHECK-COUNT-8: math.fma %{{.*}} : f64
// CHECK-NOT: math.fma
// CHECK: return
func.func @f64(%x: f64) -> f64 {
  %0 = kan.cospi %x : f64
  return %0 : f64
}
