// RUN: drawloom-opt %s | FileCheck %s

// CHECK-LABEL: func.func @defaults
// CHECK: kan.gelu %{{[a-z0-9]+}} : f32
// CHECK: kan.leaky_relu %{{[a-z0-9]+}} : f32
// CHECK: kan.elu %{{[a-z0-9]+}} : f32
// CHECK: kan.snake %{{[a-z0-9]+}} : f32
func.func @defaults(%x: f32) -> f32 {
  %0 = kan.gelu %x {approximate = "none"} : f32
  %1 = kan.leaky_relu %0 {slope = 0.01} : f32
  %2 = kan.elu %1 {alpha = 1.0} : f32
  %3 = kan.snake %2 {alpha = 1.0} : f32
  return %3 : f32
}
