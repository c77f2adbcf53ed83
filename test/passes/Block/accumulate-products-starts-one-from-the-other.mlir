// RUN: drawloom-opt %s --accumulate-products | FileCheck %s
// RUN: drawloom-opt %s --accumulate-products --verify-semantics --verify-semantics-entry=low_rank -o /dev/null

// x W + (x A) B: the product with fewer terms starts from the other one.
// CHECK-LABEL: func.func @low_rank
// CHECK: %[[Y:.+]] = linalg.matmul ins(%arg0, %arg1
// CHECK: %[[S:.+]] = linalg.matmul ins(%arg0, %arg2
// CHECK: %[[SUM:.+]] = linalg.matmul ins(%[[S]], %arg3 {{.*}}) outs(%[[Y]]
// CHECK-NOT: linalg.generic
// CHECK: return %[[SUM]]
func.func @low_rank(%x: tensor<8x32xf32>, %w: tensor<32x16xf32>, %a: tensor<32x2xf32>, %b: tensor<2x16xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %ey = tensor.empty() : tensor<8x16xf32>
  %es = tensor.empty() : tensor<8x2xf32>
  %start = linalg.fill ins(%zero : f32) outs(%ey : tensor<8x16xf32>) -> tensor<8x16xf32>
  %begin = linalg.fill ins(%zero : f32) outs(%es : tensor<8x2xf32>) -> tensor<8x2xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x32xf32>, tensor<32x16xf32>) outs(%start : tensor<8x16xf32>) -> tensor<8x16xf32>
  %s = linalg.matmul ins(%x, %a : tensor<8x32xf32>, tensor<32x2xf32>) outs(%begin : tensor<8x2xf32>) -> tensor<8x2xf32>
  %p = linalg.matmul ins(%s, %b : tensor<8x2xf32>, tensor<2x16xf32>) outs(%start : tensor<8x16xf32>) -> tensor<8x16xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %y : tensor<8x16xf32>, tensor<8x16xf32>) outs(%p : tensor<8x16xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %sum = arith.addf %l, %r : f32
    linalg.yield %sum : f32
  } -> tensor<8x16xf32>
  return %q : tensor<8x16xf32>
}

// A product that is returned as well stays as it is.
// CHECK-LABEL: func.func @returned
// CHECK: linalg.generic
func.func @returned(%x: tensor<8x32xf32>, %w: tensor<32x16xf32>, %v: tensor<32x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %ey = tensor.empty() : tensor<8x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%ey : tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x32xf32>, tensor<32x16xf32>) outs(%start : tensor<8x16xf32>) -> tensor<8x16xf32>
  %p = linalg.matmul ins(%x, %v : tensor<8x32xf32>, tensor<32x16xf32>) outs(%start : tensor<8x16xf32>) -> tensor<8x16xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %y : tensor<8x16xf32>, tensor<8x16xf32>) outs(%ey : tensor<8x16xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %sum = arith.addf %l, %r : f32
    linalg.yield %sum : f32
  } -> tensor<8x16xf32>
  return %q, %y : tensor<8x16xf32>, tensor<8x16xf32>
}

// Nor do two of which one type knows more than the other.
// CHECK-LABEL: func.func @known_in_part
// CHECK: linalg.generic
func.func @known_in_part(%x: tensor<?x32xf32>, %u: tensor<8x32xf32>, %w: tensor<32x16xf32>, %rows: index) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %eo = tensor.empty(%rows) : tensor<?x16xf32>
  %ey = tensor.empty() : tensor<8x16xf32>
  %open = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x16xf32>) -> tensor<?x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%ey : tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x32xf32>, tensor<32x16xf32>) outs(%open : tensor<?x16xf32>) -> tensor<?x16xf32>
  %p = linalg.matmul ins(%u, %w : tensor<8x32xf32>, tensor<32x16xf32>) outs(%start : tensor<8x16xf32>) -> tensor<8x16xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%y, %p : tensor<?x16xf32>, tensor<8x16xf32>) outs(%ey : tensor<8x16xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %sum = arith.addf %l, %r : f32
    linalg.yield %sum : f32
  } -> tensor<8x16xf32>
  return %q : tensor<8x16xf32>
}
