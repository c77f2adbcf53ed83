// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// CHECK-LABEL: func.func @activations
func.func @activations(%s: f64, %v: vector<4xf16>, %t: tensor<3x?xf32>, %h: tensor<2xbf16>) {
  // CHECK: kan.cospi %{{.*}} : f64
  %0 = kan.cospi %s : f64
  // CHECK: kan.gelu %{{.*}} : vector<4xf16>
  %1 = kan.gelu %v : vector<4xf16>
  // CHECK: kan.leaky_relu %{{.*}} : tensor<3x?xf32>
  %2 = kan.leaky_relu %t : tensor<3x?xf32>
  // CHECK: kan.relu %{{.*}} : tensor<2xbf16>
  %3 = kan.relu %h : tensor<2xbf16>
  // CHECK: kan.sigmoid %{{.*}} : f64
  %4 = kan.sigmoid %s : f64
  // CHECK: kan.silu %{{.*}} : vector<4xf16>
  %5 = kan.silu %v : vector<4xf16>
  // CHECK: kan.sine %{{.*}} : tensor<3x?xf32>
  %6 = kan.sine %t : tensor<3x?xf32>
  // CHECK: kan.sinpi %{{.*}} : tensor<2xbf16>
  %7 = kan.sinpi %h : tensor<2xbf16>
  // CHECK: kan.softplus %{{.*}} : f64
  %8 = kan.softplus %s : f64
  // CHECK: kan.square %{{.*}} : vector<4xf16>
  %9 = kan.square %v : vector<4xf16>
  // CHECK: kan.tanh %{{.*}} : tensor<3x?xf32>
  %10 = kan.tanh %t : tensor<3x?xf32>
  // CHECK: kan.elu %{{.*}} : tensor<2xbf16>
  %11 = kan.elu %h : tensor<2xbf16>
  // CHECK: kan.snake %{{.*}} : f64
  %12 = kan.snake %s : f64
  return
}
