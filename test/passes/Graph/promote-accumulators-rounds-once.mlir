// RUN: drawloom-opt %s --promote-accumulators --verify-semantics | FileCheck %s
// RUN: drawloom-opt %s --promote-accumulators --verify-semantics -o /dev/null

// CHECK-LABEL: func.func @product
// CHECK: linalg.fill {{.*}} -> tensor<4x8xf32>
// CHECK: %[[SUM:.*]] = linalg.contract {{.*}} ins({{.*}} : tensor<4x16xbf16>, tensor<16x8xbf16>) outs({{.*}} : tensor<4x8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[SUM]] : tensor<4x8xf32>)
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @product(%a: tensor<4x16xbf16>, %b: tensor<16x8xbf16>) -> tensor<4x8xbf16> {
  %zero = arith.constant 0.0 : bf16
  %empty = tensor.empty() : tensor<4x8xbf16>
  %start = linalg.fill ins(%zero : bf16) outs(%empty : tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %c = linalg.matmul ins(%a, %b : tensor<4x16xbf16>, tensor<16x8xbf16>) outs(%start : tensor<4x8xbf16>) -> tensor<4x8xbf16>
  return %c : tensor<4x8xbf16>
}

// The terms stay as they are; what the sum starts from is widened.
// CHECK-LABEL: func.func @sum_of_exponentials
// CHECK: math.exp %{{.*}} : f16
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @sum_of_exponentials(%x: tensor<4x16xf16>, %start: tensor<16xf16>) -> tensor<16xf16> {
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<4x16xf16>) outs(%start : tensor<16xf16>) {
  ^bb0(%in: f16, %sum: f16):
    %e = math.exp %in : f16
    %n = arith.addf %sum, %e : f16
    linalg.yield %n : f16
  } -> tensor<16xf16>
  return %s : tensor<16xf16>
}

// A maximum loses nothing.
// CHECK-LABEL: func.func @maximum
// CHECK-NOT: f32
// CHECK: return
func.func @maximum(%x: tensor<4x16xf16>, %start: tensor<16xf16>) -> tensor<16xf16> {
  %s = linalg.reduce {arith.maximumf} ins(%x : tensor<4x16xf16>) outs(%start : tensor<16xf16>) dimensions = [0]
  return %s : tensor<16xf16>
}

// CHECK-LABEL: func.func @reduced
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
func.func @reduced(%x: tensor<4x16xf16>, %start: tensor<16xf16>) -> tensor<16xf16> {
  %s = linalg.reduce {arith.addf} ins(%x : tensor<4x16xf16>) outs(%start : tensor<16xf16>) dimensions = [0]
  return %s : tensor<16xf16>
}
