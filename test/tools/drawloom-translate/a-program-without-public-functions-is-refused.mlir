// RUN: not drawloom-translate --mlir-to-artifact %s -o %t 2>&1 | FileCheck %s
// CHECK: the program has no public function with a body: nothing in it could be called
func.func private @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
