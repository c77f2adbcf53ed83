// As it is once the arguments gave their extents: the op learns of them after it was decomposed.
// RUN: drawloom-run %s --compile-to=blocks | FileCheck %s

// CHECK: func.func @f
// CHECK-NEXT: tensor.empty() : tensor<0x8xf32>
// CHECK-NEXT: return
func.func @f(%x: tensor<0x8xf32>) -> tensor<?x8xf32> {
  %open = tensor.cast %x : tensor<0x8xf32> to tensor<?x8xf32>
  %y = kan.silu %open : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
