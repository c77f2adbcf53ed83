// RUN: not drawloom-translate --mlir-to-ptx %s 2>&1 | FileCheck %s

// CHECK: error: kernel 'k' asks for 48 threads; nvvm.reqntid = array<i32: n> must hold one multiple of 32, at most 1024
llvm.func @k(%s0: !llvm.ptr<1>, %s1: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 48>} {
  llvm.return
}
