// RUN: drawloom-opt %s --cpu-tile-and-vectorize=isa=avx2 --cpu-verify-vectors --verify-semantics | FileCheck %s

// 32 rows are two tiles of six and four of five: none of two, which would have
// too few sums under way. Rows that lie along memory are taken one by one.
// CHECK-LABEL: func.func @rows_along_memory
// CHECK: scf.for %{{.*}} = %c0 to %c12 step %c6
// CHECK: vector.transfer_read %arg0{{.*}}vector<6xf32>
// CHECK: vector.contract {{.*}} into vector<6x16xf32>
// CHECK: scf.for %{{.*}} = %c12 to %c32 step %c5
// CHECK: vector.contract {{.*}} into vector<5x16xf32>
func.func @rows_along_memory(%x: tensor<64x32xf32>, %w: tensor<64x32xf32>, %sum: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %y = linalg.contract indexing_maps = [affine_map<(r, c, i) -> (i, r)>, affine_map<(r, c, i) -> (i, c)>, affine_map<(r, c, i) -> (r, c)>]
      ins(%x, %w : tensor<64x32xf32>, tensor<64x32xf32>) outs(%sum : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %y : tensor<32x32xf32>
}

// Rows in panels are cut as the panels are, so that no tile lies in two.
// CHECK-LABEL: func.func @panels_of_rows
// CHECK: tensor.empty() : tensor<64x128x4xf32>
// CHECK-NOT: vector<6x
func.func @panels_of_rows(%x: tensor<128x256xf32>, %w: tensor<128x256xf32>, %sum: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %y = linalg.contract indexing_maps = [affine_map<(r, c, i) -> (i, r)>, affine_map<(r, c, i) -> (i, c)>, affine_map<(r, c, i) -> (r, c)>]
      ins(%x, %w : tensor<128x256xf32>, tensor<128x256xf32>) outs(%sum : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %y : tensor<256x256xf32>
}
