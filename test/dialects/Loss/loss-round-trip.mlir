// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// CHECK-LABEL: func.func @losses
func.func @losses(%y: tensor<?x3xf16>, %t: tensor<?x3xf16>, %l: tensor<?xi32>, %d: tensor<4xf64>) {
  // CHECK: loss.mse %{{.*}}, %{{.*}} : tensor<?x3xf16> -> tensor<f32>
  %0 = loss.mse %y, %t : tensor<?x3xf16> -> tensor<f32>
  // CHECK: loss.huber %{{.*}}, %{{.*}} {delta = 5.000000e-01 : f64} : tensor<4xf64> -> tensor<f64>
  %1 = loss.huber %d, %d {delta = 0.5} : tensor<4xf64> -> tensor<f64>
  // CHECK: loss.softmax_cross_entropy %{{.*}}, %{{.*}} : tensor<?x3xf16>, tensor<?xi32> -> tensor<f32>
  %2 = loss.softmax_cross_entropy %y, %l : tensor<?x3xf16>, tensor<?xi32> -> tensor<f32>
  // CHECK: loss.softmax_cross_entropy %{{.*}}, %{{.*}} : tensor<?x3xf16>, tensor<?x3xf16> -> tensor<f32>
  %3 = loss.softmax_cross_entropy %y, %t : tensor<?x3xf16>, tensor<?x3xf16> -> tensor<f32>
  // CHECK: loss.softmax %{{.*}} : tensor<?x3xf16>
  %4 = loss.softmax %y : tensor<?x3xf16>
  // CHECK: loss.log_softmax %{{.*}} : tensor<4xf64>
  %5 = loss.log_softmax %d : tensor<4xf64>
  return
}
