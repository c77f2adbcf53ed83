// RUN: drawloom-translate --mlir-to-assembly --isa=avx2 %s | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: drawloom-translate --mlir-to-assembly --isa=avx512 %s | FileCheck %s --check-prefixes=CHECK,AVX512
// CHECK: .globl{{.*}}f
// AVX2: vaddps {{.*}}%ymm
// AVX512: vaddps {{.*}}%zmm
func.func @f(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = arith.addf %x, %y : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
