// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// CHECK-LABEL: func.func @attributes
func.func @attributes(%x: f32) -> f32 {
  // CHECK: kan.gelu %{{.*}} {approximate = "tanh"} : f32
  %0 = kan.gelu %x {approximate = "tanh"} : f32
  // CHECK: kan.leaky_relu %{{.*}} {slope = 2.000000e-01 : f64} : f32
  %1 = kan.leaky_relu %0 {slope = 0.2} : f32
  // CHECK: kan.sine %{{.*}} {omega = 3.000000e+01 : f64} : f32
  %2 = kan.sine %1 {omega = 30.0} : f32
  // CHECK: kan.softplus %{{.*}} {beta = 5.000000e+00 : f64} : f32
  %3 = kan.softplus %2 {beta = 5.0} : f32
  // CHECK: kan.elu %{{.*}} {alpha = 5.000000e-01 : f64} : f32
  %4 = kan.elu %3 {alpha = 0.5} : f32
  // CHECK: kan.snake %{{.*}} {alpha = 2.500000e-01 : f64} : f32
  %5 = kan.snake %4 {alpha = 0.25} : f32
  return %5 : f32
}
