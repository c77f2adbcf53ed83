// RUN: not drawloom-run %s --random --report --isa=all 2>&1 | FileCheck %s
// CHECK: error: --report shows one instruction set's kernels, but --isa=all names several
func.func @f(%x: tensor<64x8xf32>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %0 = arith.addf %x, %y : tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}
