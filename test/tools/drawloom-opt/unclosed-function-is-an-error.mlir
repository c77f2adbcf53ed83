// RUN: not drawloom-opt %s 2>&1 | FileCheck %s
// CHECK: unclosed-function-is-an-error.mlir:{{[0-9]+}}:{{[0-9]+}}: error: expected
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
