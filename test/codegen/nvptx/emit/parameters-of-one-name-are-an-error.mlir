// RUN: not drawloom-translate --mlir-to-ptx %s 2>&1 | FileCheck %s

// CHECK: error: kernel 'k' has two parameters of the name 'x'
llvm.func @k(%p: i32 {drawloom.name = "x"}, %v: i32 {drawloom.name = "x"}, %s0: !llvm.ptr<1>, %s1: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  llvm.return
}
