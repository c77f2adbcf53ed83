// RUN: drawloom-run %s --compile-to=llvm | FileCheck %s
// CHECK: llvm.func @drawloom_f
func.func @f(%x: tensor<64x8xf32>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %0 = arith.addf %x, %y : tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}
