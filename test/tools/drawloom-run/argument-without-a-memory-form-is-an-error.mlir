// RUN: not drawloom-run --target=interpreter %s --random 2>&1 | FileCheck %s
// CHECK: error: argument 1 of @f is complex<f32>; only scalars and ranked tensors of f64, f32, bf16, f16, i64, i32, i8, i1 and index can be read and written
func.func @f(%x: f32, %y: complex<f32>) {
  return
}
