// RUN: not drawloom-translate --mlir-to-ptx %s 2>&1 | FileCheck %s

// CHECK: error: this is no kernel module: it holds 'func.func', and only the llvm and nvvm dialects have machine code
llvm.func @kernel(%0: !llvm.ptr<1>, %1: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  llvm.return
}
func.func @k() {
  return
}
