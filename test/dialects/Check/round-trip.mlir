// RUN: drawloom-opt %s --verify-roundtrip | FileCheck %s

func.func @f(%a: tensor<?xf32> {check.shape = array<i64: 3>}, %b: tensor<3xf64> {check.range = array<f64: 0.0, 1.0>}, %i: i1) {
  // CHECK: check.close %{{.*}}, %{{.*}} {atol = 1.000000e-03 : f64, equal_nan, rtol = 0.000000e+00 : f64} : tensor<?xf32>, tensor<3xf64>
  check.close %a, %b {rtol = 0.0, atol = 1.0e-3, equal_nan} : tensor<?xf32>, tensor<3xf64>
  // CHECK: check.equal_bits %{{.*}}, %{{.*}} : i1
  check.equal_bits %i, %i : i1
  // CHECK: check.gradient @g wrt [0] in [0.000000e+00, 1.000000e+00] {order = 1 : i64, seed = 7 : i64}
  check.gradient @g wrt [0] in [0.0, 1.0] {order = 1, seed = 7}
  // CHECK: check.gradient @g wrt [0]{{$}}
  check.gradient @g wrt [0]
  return
}

func.func private @g(%x: f32) -> f32 {
  return %x : f32
}
