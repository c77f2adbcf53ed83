// RUN: drawloom-run --target=interpreter %s --print | FileCheck %s
// CHECK: result0: float32[2, 2] = {{\[\[}}1, 2.5], [-3, inf]]
// CHECK-NEXT: result1: int64[] = -7
// CHECK-NEXT: result2: bool[2] = [1, 0]
// CHECK-NEXT: result3: bfloat16[] = 1
func.func @f() -> (tensor<2x2xf32>, i64, tensor<2xi1>, bf16) {
  %0 = arith.constant dense<[[1.0, 2.5], [-3.0, 0x7F800000]]> : tensor<2x2xf32>
  %1 = arith.constant -7 : i64
  %2 = arith.constant dense<[true, false]> : tensor<2xi1>
  %3 = arith.constant 1.0039 : bf16
  return %0, %1, %2, %3 : tensor<2x2xf32>, i64, tensor<2xi1>, bf16
}
