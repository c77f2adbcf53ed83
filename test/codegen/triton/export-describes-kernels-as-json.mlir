// RUN: drawloom-translate --mlir-to-ttir-json --compile-from=blocks %s | FileCheck %s

// A constant that is not one number is memory too; the sum's kernel follows.
// CHECK: "buffers": [
// CHECK: "element": "f32",
// CHECK-NEXT: "index": 0,
// CHECK-NEXT: "kind": "argument",
// CHECK: "data": "0000803f00000040",
// CHECK: "kind": "constant",
// CHECK: "kind": "result",
// CHECK: "grid": [
// CHECK: "name": "scale_0",
// CHECK: "num_warps": 1,
// CHECK: "argument": 1,
// CHECK-NEXT: "type": "f32"
func.func @scale(%x: tensor<2xf32>, %by: f32) -> tensor<2xf32> {
  %weights = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]} ins(%x, %weights : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) {
  ^bb0(%a: f32, %w: f32, %old: f32):
    %b = arith.mulf %a, %w : f32
    %c = arith.mulf %b, %by : f32
    linalg.yield %c : f32
  } -> tensor<2xf32>
  return %y : tensor<2xf32>
}
