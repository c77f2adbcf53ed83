// REQUIRES: ptxas
// RUN: not drawloom-translate --mlir-to-cubin %s 2>&1 | FileCheck %s
// RUN: drawloom-translate --mlir-to-cubin --kernel=second %s -o %t

// CHECK: error: a cubin holds one kernel; name one of first, second with --kernel, or write all with --mlir-to-bundle
llvm.func @first(%s0: !llvm.ptr<1>, %s1: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  llvm.return
}
llvm.func @second(%s0: !llvm.ptr<1>, %s1: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  llvm.return
}
