// RUN: not drawloom-translate --mlir-to-ptx %s 2>&1 | FileCheck %s

// CHECK: error: 'k' holds nvvm.cluster.wait, which sm_80 does not have
llvm.func @k(%s0: !llvm.ptr<1>, %s1: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  nvvm.cluster.wait
  llvm.return
}
