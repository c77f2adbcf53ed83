// RUN: not drawloom-run --target=interpreter %s --input=%t.none.npy 2>&1 | FileCheck %s
// CHECK: error: cannot read '{{.*}}.none.npy': No such file or directory
func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = arith.addf %x, %x : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
