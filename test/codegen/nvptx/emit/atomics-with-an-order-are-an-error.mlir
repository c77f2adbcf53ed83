// LLVM 22 prints atom.add, which is relaxed, for any order.
//
// RUN: not drawloom-translate --mlir-to-ptx %s 2>&1 | FileCheck %s

// CHECK: error: 'k' holds atomicrmw add with order acq_rel, which would be lost; make it monotonic, with llvm.fence before and behind it
llvm.func @k(%p: !llvm.ptr<1>, %n: i32, %s0: !llvm.ptr<1>, %s1: !llvm.ptr<1>)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  %old = llvm.atomicrmw add %p, %n acq_rel : !llvm.ptr<1>, i32
  llvm.return
}
