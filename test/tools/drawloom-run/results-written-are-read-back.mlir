// RUN: drawloom-run --target=interpreter %s --entry=make --output=%t.npz
// RUN: drawloom-run --target=interpreter %s --entry=take --input=%t.npz --print | FileCheck %s
// CHECK: result0: float32[] = 1.5
// CHECK: result1: float64[2] = [0.1, -2]
// CHECK: result2: bfloat16[1] = [0.5]
// CHECK: result3: int8[0] = []
// CHECK: result4: bool[1] = [1]
func.func @make() -> (f32, tensor<2xf64>, tensor<1xbf16>, tensor<0xi8>, tensor<1xi1>) {
  %0 = arith.constant 1.5 : f32
  %1 = arith.constant dense<[0.1, -2.0]> : tensor<2xf64>
  %2 = arith.constant dense<[0.5]> : tensor<1xbf16>
  %3 = arith.constant dense<> : tensor<0xi8>
  %4 = arith.constant dense<[true]> : tensor<1xi1>
  return %0, %1, %2, %3, %4 : f32, tensor<2xf64>, tensor<1xbf16>, tensor<0xi8>, tensor<1xi1>
}
func.func @take(%0: f32, %1: tensor<2xf64>, %2: tensor<1xbf16>, %3: tensor<0xi8>, %4: tensor<1xi1>)
    -> (f32, tensor<2xf64>, tensor<1xbf16>, tensor<0xi8>, tensor<1xi1>) {
  return %0, %1, %2, %3, %4 : f32, tensor<2xf64>, tensor<1xbf16>, tensor<0xi8>, tensor<1xi1>
}
