// RUN: not drawloom-translate --mlir-to-object --isa=all %s 2>&1 | FileCheck %s
// RUN: not drawloom-translate --mlir-to-assembly --isa=all %s 2>&1 | FileCheck %s
// CHECK: error: phase 'llvm' is one instruction set's own, but 'all' names 5 of them: choose one
func.func @f(%x: tensor<64x8xf32>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %0 = arith.addf %x, %y : tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}
