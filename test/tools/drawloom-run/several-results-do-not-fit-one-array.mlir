// RUN: not drawloom-run --target=interpreter %s --random --output=%t.npy 2>&1 | FileCheck %s
// CHECK: error: @f has 2 results: --output takes a folder or a .npz file for them
func.func @f(%x: f32) -> (f32, f32) {
  return %x, %x : f32, f32
}
