// RUN: not drawloom-run %s --random --isa=avx3 2>&1 | FileCheck %s
// CHECK: error: unknown instruction set 'avx3'; known are 'native', 'amx', 'avx512bf16', 'avx512', 'avx2', 'baseline', and 'all'
func.func @f(%x: tensor<64x8xf32>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %0 = arith.addf %x, %y : tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}
