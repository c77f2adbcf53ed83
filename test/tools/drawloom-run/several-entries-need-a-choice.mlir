// RUN: not drawloom-run --target=interpreter %s --random 2>&1 | FileCheck %s
// CHECK: error: which function? --entry=NAME chooses one of @one, @two
func.func @one(%x: f32) -> f32 {
  return %x : f32
}
func.func @two(%x: f32) -> f32 {
  return %x : f32
}
