// RUN: drawloom-translate --drawloom-to-llvmir --isa=avx2 %s | FileCheck %s
// CHECK: define {{.*}}void @drawloom_f(
// CHECK: fadd {{.*}}<8 x float>
func.func @f(%x: tensor<64x8xf32>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %0 = arith.addf %x, %y : tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}
