// RUN: drawloom-translate --mlir-to-object %s -o %t.o
// RUN: llvm-readobj --symbols %t.o | FileCheck %s
// CHECK: Name: drawloom_f (
func.func @f(%x: tensor<64x8xf32>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %0 = arith.addf %x, %y : tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}
