// RUN: not drawloom-opt %s 2>&1 | FileCheck %s
// CHECK: unknown-op-is-an-error.mlir:5:8: error: custom op 'kan.no_such_op' is unknown

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = kan.no_such_op %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
