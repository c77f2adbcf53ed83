// RUN: not drawloom-translate --mlir-to-ptx --arch=sm_75 %s 2>&1 | FileCheck %s

// CHECK: error: there is no architecture 'sm_75'; there are sm_80, sm_90a, sm_100a
llvm.func @k(%s0: !llvm.ptr<1>, %s1: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  llvm.return
}
