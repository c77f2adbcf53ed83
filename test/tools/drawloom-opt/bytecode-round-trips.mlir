// RUN: drawloom-opt --emit-bytecode %s | drawloom-opt | FileCheck %s
// CHECK: func.func @f
// CHECK-NEXT: math.exp
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
