// RUN: drawloom-opt %s --math-uplift-to-fma --verify-semantics=1 | FileCheck %s

// CHECK: math.fma
func.func @f(%a: tensor<64xf64>, %b: tensor<64xf64>) -> tensor<64xf64> {
  %0 = arith.mulf %a, %a fastmath<contract> : tensor<64xf64>
  %1 = arith.addf %0, %b fastmath<contract> : tensor<64xf64>
  return %1 : tensor<64xf64>
}
