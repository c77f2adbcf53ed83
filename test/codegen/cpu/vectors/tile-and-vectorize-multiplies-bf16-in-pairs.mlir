// RUN: drawloom-opt %s --pass-pipeline='builtin.module(func.func(cpu-tile-and-vectorize{isa=amx}))' --verify-semantics | FileCheck %s
// RUN: drawloom-opt %s --pass-pipeline='builtin.module(func.func(cpu-tile-and-vectorize{isa=avx2}))' --verify-semantics | FileCheck %s --check-prefix=WIDE

// The right operand is interleaved once, the left one read as it lies; sums are
// tiles of 32 x 32.
// CHECK-LABEL: func.func @product
// CHECK-DAG: tensor.expand_shape %arg0 {{.*}} : tensor<64x64xbf16> into tensor<64x32x2xbf16>
// CHECK-DAG: tensor.expand_shape %arg1 {{.*}} : tensor<64x64xbf16> into tensor<32x2x64xbf16>
// CHECK: tensor.empty() : tensor<32x64x2xbf16>
// CHECK: vector.contract {{.*}} : vector<32x16x2xbf16>, vector<16x32x2xbf16> into vector<32x32xf32>

// Where no instruction multiplies bf16, each operand becomes f32 once.
// WIDE-LABEL: func.func @product
// WIDE-DAG: arith.extf %{{.*}} : vector<{{.*}}xbf16> to vector
// WIDE: vector.contract {{.*}} : vector<6x1xf32>, vector<1x16xf32> into vector<6x16xf32>
func.func @product(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

// Half a pair is left.
// CHECK-LABEL: func.func @odd
// CHECK: vector.contract {{.*}}xf32>
func.func @odd(%a: tensor<16x33xbf16>, %b: tensor<33x16xbf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<16x33xbf16>, tensor<33x16xbf16>) outs(%c : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %d : tensor<16x16xf32>
}

// Each way that operands may lie.
// CHECK-LABEL: func.func @both_turned
// CHECK: vector.contract {{.*}}x2xbf16> into vector
// CHECK: return
func.func @both_turned(%a: tensor<64x32xbf16>, %b: tensor<16x64xbf16>, %c: tensor<32x16xf32>) -> tensor<32x16xf32> {
  %d = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<64x32xbf16>, tensor<16x64xbf16>) outs(%c : tensor<32x16xf32>) -> tensor<32x16xf32>
  return %d : tensor<32x16xf32>
}

// The operand with the result's rows stands second.
// CHECK-LABEL: func.func @second
// CHECK: vector.contract {{.*}}x2xbf16> into vector
// CHECK: return
func.func @second(%a: tensor<64x16xbf16>, %b: tensor<32x64xbf16>, %c: tensor<32x16xf32>) -> tensor<32x16xf32> {
  %d = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<64x16xbf16>, tensor<32x64xbf16>) outs(%c : tensor<32x16xf32>) -> tensor<32x16xf32>
  return %d : tensor<32x16xf32>
}

// A result that lies the other way round than its operands' order says.
// CHECK-LABEL: func.func @turned_result
// CHECK: return
func.func @turned_result(%a: tensor<32x64xbf16>, %b: tensor<64x32xbf16>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %d = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (n, m)>]
    ins(%a, %b : tensor<32x64xbf16>, tensor<64x32xbf16>) outs(%c : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %d : tensor<32x32xf32>
}
