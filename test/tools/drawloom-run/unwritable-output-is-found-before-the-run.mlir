// RUN: not drawloom-run --target=interpreter %s --random --print --output=%t.none/x.npy 2>&1 | FileCheck %s
// CHECK-NOT: result0
// CHECK: error: cannot write '{{.*}}.none/x.npy': No such file or directory
func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = arith.addf %x, %x : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
