// RUN: not drawloom-translate --mlir-to-ptx %s 2>&1 | FileCheck %s

// CHECK: error: kernel 'k' asks for 166944 bytes of shared memory; a block has 166912 on sm_80
llvm.mlir.global internal @flags() {addr_space = 3 : i32} : !llvm.array<8 x i32>
llvm.func @k(%s0: !llvm.ptr<1>, %s1: !llvm.ptr<1>)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>, drawloom.shared_bytes = 166912 : i64} {
  llvm.return
}
