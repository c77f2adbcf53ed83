// RUN: drawloom-opt %s --pass-pipeline='builtin.module(func.func(cpu-tile-and-vectorize{isa=avx2}))' | FileCheck %s
// RUN: drawloom-opt %s --cpu-tile-and-vectorize=isa=avx2 --verify-semantics --verify-semantics-entry=remainder -o /dev/null

// The rows of %w lie 1 KiB apart: panels of 16 columns are packed once, in
// blocks, before the blocks that read them; one panel serves all rows.
// CHECK-LABEL: func.func @outside
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<16x256x16xf32>
// CHECK: %[[PACKED:.*]] = scf.forall ({{.*}}) in (16) shared_outs({{.*}} = %[[EMPTY]])
// CHECK: scf.forall ({{.*}}) in (8)
// CHECK: scf.for %[[COLUMN:.*]] = %c0 to %c256 step %c16
// CHECK: %[[PANEL:.*]] = affine.apply #{{.*}}(%[[COLUMN]])
// CHECK: scf.for %{{.*}} = %c0 to %c54 step %c6
// CHECK: vector.transfer_read %[[PACKED]][%[[PANEL]]
// CHECK: vector.contract
func.func @outside(%x: tensor<512x256xf32>, %w: tensor<256x256xf32>) -> tensor<512x256xf32> {
  %zero = arith.constant 0.0 : f32
  %result = tensor.empty() : tensor<512x256xf32>
  %y = scf.forall (%i) in (8) shared_outs(%out = %result) -> tensor<512x256xf32> {
    %at = affine.apply affine_map<(d0) -> (d0 * 64)>(%i)
    %rows = tensor.extract_slice %x[%at, 0] [64, 256] [1, 1] : tensor<512x256xf32> to tensor<64x256xf32>
    %empty = tensor.empty() : tensor<64x256xf32>
    %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x256xf32>) -> tensor<64x256xf32>
    %part = linalg.matmul ins(%rows, %w : tensor<64x256xf32>, tensor<256x256xf32>) outs(%start : tensor<64x256xf32>) -> tensor<64x256xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %part into %out[%at, 0] [64, 256] [1, 1] : tensor<64x256xf32> into tensor<512x256xf32>
    }
  }
  return %y : tensor<512x256xf32>
}

// 64 x 64 numbers fit into the first-level cache as they are.
// CHECK-LABEL: func.func @narrow
// CHECK-NOT: tensor<4x64x16xf32>
// CHECK: vector.contract
func.func @narrow(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%start : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// The last panel of 250 columns is filled in part. Its 10 columns are read as 8
// and then 2, which begin in the middle of the panel.
// CHECK-LABEL: func.func @remainder
// CHECK: tensor.empty() : tensor<16x256x16xf32>
// CHECK: vector.contract {{.*}} : vector<6x1xf32>, vector<1x8xf32> into vector<6x8xf32>
func.func @remainder(%x: tensor<64x256xf32>, %w: tensor<256x250xf32>) -> tensor<64x250xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x250xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x250xf32>) -> tensor<64x250xf32>
  %y = linalg.matmul ins(%x, %w : tensor<64x256xf32>, tensor<256x250xf32>) outs(%start : tensor<64x250xf32>) -> tensor<64x250xf32>
  return %y : tensor<64x250xf32>
}
