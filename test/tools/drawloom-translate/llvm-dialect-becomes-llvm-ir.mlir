// RUN: drawloom-translate --mlir-to-llvmir %s | FileCheck %s
// CHECK: define float @twice(float %0)
// CHECK-NEXT: fadd float %0, %0
llvm.func @twice(%x: f32) -> f32 {
  %0 = llvm.fadd %x, %x : f32
  llvm.return %0 : f32
}
