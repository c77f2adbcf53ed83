// What the emulator computes and what a GPU computes has the same bits.
//
// RUN: drawloom-translate --mlir-to-ptx --line-info=0 %s | FileCheck %s

// CHECK-LABEL: .visible .entry k(
// CHECK: mul.rn.f32
// CHECK: add.rn.f32
// CHECK: fma.rn.f32
llvm.func @k(%p: !llvm.ptr<1>, %a: f32, %b: f32, %c: f32, %s0: !llvm.ptr<1>, %s1: !llvm.ptr<1>)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %product = llvm.fmul %a, %b : f32
  %sum = llvm.fadd %product, %c : f32
  %fused = llvm.intr.fma(%a, %c, %sum) : (f32, f32, f32) -> f32
  llvm.store %fused, %p {alignment = 4 : i64} : f32, !llvm.ptr<1>
  llvm.return
}
