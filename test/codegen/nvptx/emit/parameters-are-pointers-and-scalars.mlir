// RUN: not drawloom-translate --mlir-to-ptx %s 2>&1 | FileCheck %s

// CHECK: error: parameter 1 of kernel 'k' has type vector<2xf32>; a kernel takes !llvm.ptr<1>, i1 to i64, f16, bf16, f32 and f64
llvm.func @k(%p: !llvm.ptr<1>, %v: vector<2xf32>, %s0: !llvm.ptr<1>, %s1: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
  llvm.return
}
