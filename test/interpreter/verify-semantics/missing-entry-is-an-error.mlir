// RUN: not drawloom-opt %s --canonicalize --verify-semantics --verify-semantics-entry=g 2>&1 | FileCheck %s

// CHECK: error: there is no function @g to compare
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
