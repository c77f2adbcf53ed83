// RUN: drawloom-run --target=interpreter %s --random --random-integers=5:6 --print | FileCheck %s
// CHECK: result0: int64[4] = [5, 5, 5, 5]
func.func @f(%x: tensor<4xi64>) -> tensor<4xi64> {
  return %x : tensor<4xi64>
}
