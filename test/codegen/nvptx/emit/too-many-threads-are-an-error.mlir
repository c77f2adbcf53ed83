// RUN: not drawloom-translate --mlir-to-ptx %s 2>&1 | FileCheck %s

// CHECK: error: kernel 'k' asks for 1056 threads
llvm.func @k(%s0: !llvm.ptr<1>, %s1: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 1056>} {
  llvm.return
}
