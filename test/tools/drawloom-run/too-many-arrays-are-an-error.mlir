// RUN: drawloom-run --target=interpreter %s --random --entry=make --output=%t.npy
// RUN: not drawloom-run --target=interpreter %s --entry=make --input=%t.npy --input=%t.npy 2>&1 | FileCheck %s
// CHECK: error: @make takes 1 arguments, but the files hold more arrays
func.func @make(%x: f32) -> f32 {
  return %x : f32
}
