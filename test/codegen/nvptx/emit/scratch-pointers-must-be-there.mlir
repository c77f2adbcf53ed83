// RUN: not drawloom-translate --mlir-to-ptx %s 2>&1 | FileCheck %s

// CHECK: error: kernel 'k' does not end with the two scratch pointers of a kernel
llvm.func @k(%p: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  llvm.return
}
