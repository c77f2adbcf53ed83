// RUN: drawloom-run --target=interpreter %s --random --print | FileCheck %s
// CHECK-NOT: = 0
func.func @f(%x: f32, %y: f32) -> f32 {
  %0 = arith.subf %x, %y : f32
  return %0 : f32
}
