// RUN: drawloom-opt %s --fuse-rows=wide-products | FileCheck %s
// RUN: drawloom-opt %s --fuse-rows | FileCheck %s --check-prefix=APART

// 64 rows of %x and of the result are 1 MiB, more than blocks may hold. But
// they are in memory in any case; what stays within a block is %s.
// CHECK-LABEL: func.func @low_rank
// CHECK: scf.forall ({{.*}}) in (64)
// CHECK: linalg.matmul {{.*}} tensor<64x2048xf32>, tensor<2048x2048xf32>
// CHECK: linalg.matmul {{.*}} tensor<64x2048xf32>, tensor<2048x16xf32>
// CHECK: linalg.matmul {{.*}} tensor<64x16xf32>, tensor<16x2048xf32>
// CHECK-NOT: linalg.matmul
// APART-LABEL: func.func @low_rank
// APART: linalg.matmul {{.*}} tensor<4096x2048xf32>, tensor<2048x2048xf32>
func.func @low_rank(%x: tensor<4096x2048xf32>, %w: tensor<2048x2048xf32>, %a: tensor<2048x16xf32>, %b: tensor<16x2048xf32>) -> tensor<4096x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %ey = tensor.empty() : tensor<4096x2048xf32>
  %es = tensor.empty() : tensor<4096x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%ey : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %begin = linalg.fill ins(%zero : f32) outs(%es : tensor<4096x16xf32>) -> tensor<4096x16xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4096x2048xf32>, tensor<2048x2048xf32>) outs(%start : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %s = linalg.matmul ins(%x, %a : tensor<4096x2048xf32>, tensor<2048x16xf32>) outs(%begin : tensor<4096x16xf32>) -> tensor<4096x16xf32>
  %p = linalg.matmul ins(%s, %b : tensor<4096x16xf32>, tensor<16x2048xf32>) outs(%y : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  return %p : tensor<4096x2048xf32>
}

// The rows are fewer than a row is long. But sums over what a row has are too
// large to be carried by blocks: so the rows are cut, into tiles of 32, for
// blocks enough.
// CHECK-LABEL: func.func @few_rows
// CHECK: scf.forall ({{.*}}) in (16)
// CHECK: linalg.matmul {{.*}} tensor<32x2048xf32>, tensor<2048x2048xf32>
// CHECK: linalg.matmul {{.*}} tensor<32x2048xf32>, tensor<2048x2048xf32>
// CHECK-NOT: linalg.matmul
func.func @few_rows(%x: tensor<512x2048xf32>, %w: tensor<2048x2048xf32>, %v: tensor<2048x2048xf32>) -> (tensor<512x2048xf32>, tensor<512x2048xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<512x2048xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<512x2048xf32>) -> tensor<512x2048xf32>
  %h = linalg.matmul ins(%x, %w : tensor<512x2048xf32>, tensor<2048x2048xf32>) outs(%start : tensor<512x2048xf32>) -> tensor<512x2048xf32>
  %y = linalg.matmul ins(%h, %v : tensor<512x2048xf32>, tensor<2048x2048xf32>) outs(%start : tensor<512x2048xf32>) -> tensor<512x2048xf32>
  %z = linalg.add ins(%x, %y : tensor<512x2048xf32>, tensor<512x2048xf32>) outs(%empty : tensor<512x2048xf32>) -> tensor<512x2048xf32>
  return %h, %z : tensor<512x2048xf32>, tensor<512x2048xf32>
}

// What lies between two wide products, and nobody else reads, would stay within
// a block, and does not fit.
// CHECK-LABEL: func.func @chain
// CHECK: scf.forall ({{.*}}) in (64)
// CHECK: linalg.matmul
// CHECK-NOT: linalg.matmul
// CHECK: scf.forall ({{.*}}) in (64)
// CHECK: linalg.matmul
func.func @chain(%x: tensor<4096x2048xf32>, %w: tensor<2048x2048xf32>, %v: tensor<2048x2048xf32>) -> tensor<4096x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %ey = tensor.empty() : tensor<4096x2048xf32>
  %start = linalg.fill ins(%zero : f32) outs(%ey : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %h = linalg.matmul ins(%x, %w : tensor<4096x2048xf32>, tensor<2048x2048xf32>) outs(%start : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %y = linalg.matmul ins(%h, %v : tensor<4096x2048xf32>, tensor<2048x2048xf32>) outs(%start : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  return %y : tensor<4096x2048xf32>
}
