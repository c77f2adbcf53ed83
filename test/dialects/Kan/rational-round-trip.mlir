// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<?x64xf32>, %a: tensor<1x6xf32>, %b: tensor<8x4xf32>, %c: tensor<8x5xf32>) {
  // CHECK: kan.rational %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x64xf32>, tensor<1x6xf32>, tensor<8x4xf32>
  %0 = kan.rational %x, %a, %b form(abs_terms) : tensor<?x64xf32>, tensor<1x6xf32>, tensor<8x4xf32>
  // CHECK: kan.rational %{{.*}}, %{{.*}}, %{{.*}} form(abs_sum) :
  %1 = kan.rational %0, %a, %b form(abs_sum) : tensor<?x64xf32>, tensor<1x6xf32>, tensor<8x4xf32>
  // CHECK: kan.rational %{{.*}}, %{{.*}}, %{{.*}} form(abs_sum_eps) {eps = 2.000000e-01 : f64} :
  %2 = kan.rational %1, %a, %c form(abs_sum_eps) {eps = 0.2} : tensor<?x64xf32>, tensor<1x6xf32>, tensor<8x5xf32>
  // CHECK: kan.rational %{{.*}}, %{{.*}}, %{{.*}} form(abs_sum_noise) noise(%{{.*}} : tensor<1x6xf32>) :
  %3 = kan.rational %2, %a, %b form(abs_sum_noise) noise(%a : tensor<1x6xf32>) : tensor<?x64xf32>, tensor<1x6xf32>, tensor<8x4xf32>
  // CHECK: kan.rational %{{.*}}, %{{.*}}, %{{.*}} form(unsafe) :
  %4 = kan.rational %3, %a, %b form(unsafe) : tensor<?x64xf32>, tensor<1x6xf32>, tensor<8x4xf32>
  return
}
