// RUN: drawloom-run %s --random --isa=all --compare=interpreter | FileCheck %s
// RUN: drawloom-run %s --random --isa=avx512,baseline --compare=interpreter | FileCheck %s
// CHECK: passed
func.func @f(%x: tensor<64x8xf32>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %0 = arith.addf %x, %y : tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}
