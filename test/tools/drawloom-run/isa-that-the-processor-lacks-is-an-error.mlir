// UNSUPPORTED: avx512
// RUN: not drawloom-run %s --random --isa=avx512 2>&1 | FileCheck %s
// CHECK: error: {{.*}}avx512
func.func @f(%x: tensor<64x8xf32>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %0 = arith.addf %x, %y : tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}
