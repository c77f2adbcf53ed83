// RUN: not drawloom-translate --mlir-to-header %s -o %t.h 2>&1 | FileCheck %s
// RUN: not drawloom-translate --mlir-to-tvm-ffi %s -o %t.c 2>&1 | FileCheck %s
// CHECK: @a.b is no name in C, which has letters, digits and '_': give the function another
func.func @a.b(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
