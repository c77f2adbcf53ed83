// RUN: not drawloom-translate --mlir-to-ptx %s 2>&1 | FileCheck %s

// CHECK: error: 'k' calls llvm.exp2.f32, which has no exact code on a GPU
llvm.func @k(%p: !llvm.ptr<1>, %x: f32, %s0: !llvm.ptr<1>, %s1: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %y = llvm.intr.exp2(%x) : (f32) -> f32
  llvm.store %y, %p {alignment = 4 : i64} : f32, !llvm.ptr<1>
  llvm.return
}
