// RUN: not drawloom-translate --mlir-to-ptx %s 2>&1 | FileCheck %s

// CHECK: error: the module holds no kernel: no llvm.func has the attribute nvvm.kernel
llvm.func @k(%s0: !llvm.ptr<1>, %s1: !llvm.ptr<1>) {
  llvm.return
}
