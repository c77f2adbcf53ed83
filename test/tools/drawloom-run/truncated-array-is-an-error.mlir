// RUN: drawloom-run --target=interpreter %s --random --output=%t.npy
// RUN: head -c 140 %t.npy > %t.cut.npy
// RUN: not drawloom-run --target=interpreter %s --input=%t.cut.npy 2>&1 | FileCheck %s
// CHECK: error: cannot read '{{.*}}.cut.npy': shape [2, 3] of float32 needs 24 bytes of data, but the .npy file has 12 (truncated?)
func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = arith.addf %x, %x : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
