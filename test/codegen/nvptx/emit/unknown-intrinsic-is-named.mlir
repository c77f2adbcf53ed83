// RUN: not drawloom-translate --mlir-to-ptx %s 2>&1 | FileCheck %s

// CHECK: error: translation to LLVM IR failed: {{.*}}could not find LLVM intrinsic: "llvm.nvvm.no.such"
llvm.func @k(%x: f32, %s0: !llvm.ptr<1>, %s1: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %y = llvm.call_intrinsic "llvm.nvvm.no.such"(%x) : (f32) -> f32
  llvm.return
}
