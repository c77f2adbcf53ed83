// RUN: split-file %s %t
// RUN: drawloom-run --target=interpreter %t/main.mlir %t/library.mlir --print | FileCheck %s
// CHECK: result0: float32[] = 6
//--- main.mlir
func.func private @twice(f32) -> f32
func.func @f() -> f32 {
  %0 = arith.constant 3.0 : f32
  %1 = call @twice(%0) : (f32) -> f32
  return %1 : f32
}
//--- library.mlir
func.func private @twice(%x: f32) -> f32 {
  %0 = arith.addf %x, %x : f32
  return %0 : f32
}
