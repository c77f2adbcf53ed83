// RUN: not drawloom-translate --mlir-to-ptx %s 2>&1 | FileCheck %s

// CHECK: error: 'k' calls 'elsewhere', which nothing defines
llvm.func @elsewhere(i32) -> i32
llvm.func @k(%p: !llvm.ptr<1>, %x: i32, %s0: !llvm.ptr<1>, %s1: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %y = llvm.call @elsewhere(%x) : (i32) -> i32
  llvm.store %y, %p {alignment = 4 : i64} : i32, !llvm.ptr<1>
  llvm.return
}
