// RUN: drawloom-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @encode
// CHECK-SAME: (%[[X:.*]]: tensor<16x2xf32>, %[[T:.*]]: tensor<2x64x2xf32>)
// CHECK-NEXT: %[[Y:.*]] = kan.grid_encode %[[X]], %[[T]] {{.*}} -> tensor<16x4xf32>
// CHECK-NEXT: return %[[Y]]
func.func @encode(%x: tensor<16x2xf32>, %t: tensor<2x64x2xf32>) -> tensor<16x4xf32> {
  %forgets = tensor.cast %x : tensor<16x2xf32> to tensor<?x2xf32>
  %y = kan.grid_encode %forgets, %t {base_resolution = 4, growth = 1.5}
    : tensor<?x2xf32>, tensor<2x64x2xf32> -> tensor<?x4xf32>
  %knows = tensor.cast %y : tensor<?x4xf32> to tensor<16x4xf32>
  return %knows : tensor<16x4xf32>
}

// CHECK-LABEL: @coordinates
// CHECK: kan.grid_encode_vjp_coordinates {{.*}} : tensor<16x4xf32>, tensor<16x2xf32>, tensor<2x64x2xf32>
func.func @coordinates(%g: tensor<16x4xf32>, %x: tensor<?x2xf32>, %t: tensor<2x64x2xf32>) -> tensor<?x2xf32> {
  %forgets = tensor.cast %g : tensor<16x4xf32> to tensor<?x4xf32>
  %dx = kan.grid_encode_vjp_coordinates %forgets, %x, %t {base_resolution = 4, growth = 1.5}
    : tensor<?x4xf32>, tensor<?x2xf32>, tensor<2x64x2xf32>
  return %dx : tensor<?x2xf32>
}
