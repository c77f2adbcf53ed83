// RUN: drawloom-run %s --random --shape=0:24x8 --compare=interpreter | FileCheck %s
// CHECK: result0: float32[24, 8]: {{.*}}: passed
func.func @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = arith.mulf %x, %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
