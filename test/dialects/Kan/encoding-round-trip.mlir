// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// CHECK-LABEL: func.func @encodings
func.func @encodings(%x: tensor<?x3xf16>, %t: tensor<2x100x4xf32>, %g: tensor<?x8xf32>) {
  // CHECK: kan.frequency_encode %{{.*}} {octaves = 3 : i64} : tensor<?x3xf16> -> tensor<?x18xf16>
  %0 = kan.frequency_encode %x {octaves = 3} : tensor<?x3xf16> -> tensor<?x18xf16>
  // CHECK: kan.grid_encode %{{.*}}, %{{.*}} {base_resolution = 4 : i64, finest_resolution = 9 : i64} : tensor<?x3xf16>, tensor<2x100x4xf32> -> tensor<?x8xf32>
  %1 = kan.grid_encode %x, %t {base_resolution = 4, finest_resolution = 9} : tensor<?x3xf16>, tensor<2x100x4xf32> -> tensor<?x8xf32>
  // CHECK: kan.grid_encode_vjp_coordinates %{{.*}}, %{{.*}}, %{{.*}} {base_resolution = 4 : i64, growth = 1.500000e+00 : f64} : tensor<?x8xf32>, tensor<?x3xf16>, tensor<2x100x4xf32>
  %2 = kan.grid_encode_vjp_coordinates %g, %x, %t {base_resolution = 4, growth = 1.5} : tensor<?x8xf32>, tensor<?x3xf16>, tensor<2x100x4xf32>
  // CHECK: kan.grid_encode_vjp_tables %{{.*}}, %{{.*}} {base_resolution = 4 : i64, growth = 1.500000e+00 : f64} : tensor<?x8xf32>, tensor<?x3xf16> -> tensor<2x100x4xf32>
  %3 = kan.grid_encode_vjp_tables %g, %x {base_resolution = 4, growth = 1.5} : tensor<?x8xf32>, tensor<?x3xf16> -> tensor<2x100x4xf32>
  return
}
