// RUN: drawloom-opt %s --cpu-expand-math | FileCheck %s

// CHECK-LABEL: func.func @sum
// CHECK: math.fma %arg0, %arg1, %arg2 : f32
func.func @sum(%x: f32, %y: f32, %z: f32) -> f32 {
  %p = arith.mulf %x, %y : f32
  %s = arith.addf %z, %p : f32
  return %s : f32
}
// CHECK-LABEL: func.func @differences
// CHECK: %[[NZ:.*]] = arith.negf %arg2
// CHECK: math.fma %arg0, %arg1, %[[NZ]] : f32
// CHECK: %[[NX:.*]] = arith.negf %arg0
// CHECK: math.fma %[[NX]], %arg1, %arg2 : f32
func.func @differences(%x: f32, %y: f32, %z: f32) -> (f32, f32) {
  %p = arith.mulf %x, %y : f32
  %a = arith.subf %p, %z : f32
  %q = arith.mulf %x, %y : f32
  %b = arith.subf %z, %q : f32
  return %a, %b : f32, f32
}
// What else reads a product reads it rounded, and so does the sum.
// CHECK-LABEL: func.func @shared
// CHECK-NOT: math.fma
// CHECK: return
func.func @shared(%x: f32, %y: f32, %z: f32) -> (f32, f32) {
  %p = arith.mulf %x, %y : f32
  %s = arith.addf %z, %p : f32
  return %s, %p : f32, f32
}
