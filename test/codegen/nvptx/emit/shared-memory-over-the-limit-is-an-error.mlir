// RUN: not drawloom-translate --mlir-to-ptx %s 2>&1 | FileCheck %s

// CHECK: error: kernel 'k' asks for 166913 bytes of shared memory; a block has 166912 on sm_80
llvm.func @k(%s0: !llvm.ptr<1>, %s1: !llvm.ptr<1>)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>, drawloom.shared_bytes = 166913 : i64} {
  llvm.return
}
