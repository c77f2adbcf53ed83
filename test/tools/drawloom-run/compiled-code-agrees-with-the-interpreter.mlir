// RUN: drawloom-run %s --random --compare=interpreter | FileCheck %s
// CHECK: result0: float32[64, 8]: largest error {{.*}}: passed
func.func @f(%x: tensor<64x8xf32>, %y: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %0 = arith.addf %x, %y : tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}
