// RUN: not drawloom-translate --mlir-to-ptx %s 2>&1 | FileCheck %s

// CHECK: error: this is no kernel module: it holds 'func.func', and only the llvm and nvvm dialects have machine code
func.func @k() {
  return
}
