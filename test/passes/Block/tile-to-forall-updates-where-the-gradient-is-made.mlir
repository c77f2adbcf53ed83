// RUN: drawloom-opt %s --tile-to-forall=min-iterations=16 --canonicalize --verify-semantics | FileCheck %s
// RUN: drawloom-opt %s --tile-to-forall=min-iterations=16 --verify-semantics -o /dev/null

// The partial sums of a gradient are added up and applied in one block program.
// CHECK-LABEL: func.func @update
// CHECK: scf.forall
// CHECK: linalg.generic {{.*}}"reduction"
// CHECK: linalg.generic {{.*}}ins(%{{.*}}, %{{.*}} : tensor<1x8xf32>, tensor<1x8xf32>)
// CHECK: scf.forall.in_parallel
// CHECK-NOT: scf.forall
// CHECK-NOT: linalg.generic
func.func @update(%partials: tensor<4x16x8xf32>, %w: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %zero = arith.constant 0.0 : f32
  %rate = arith.constant 0.1 : f32
  %empty = tensor.empty() : tensor<16x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x8xf32>) -> tensor<16x8xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (i, j)>], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%partials : tensor<4x16x8xf32>) outs(%start : tensor<16x8xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %n = arith.addf %sum, %in : f32
    linalg.yield %n : f32
  } -> tensor<16x8xf32>
  %new = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%g, %w : tensor<16x8xf32>, tensor<16x8xf32>) outs(%empty : tensor<16x8xf32>) {
  ^bb0(%gradient: f32, %weight: f32, %out: f32):
    %d = arith.mulf %rate, %gradient : f32
    %n = arith.subf %weight, %d : f32
    linalg.yield %n : f32
  } -> tensor<16x8xf32>
  return %new : tensor<16x8xf32>
}

// The blocks leave rows 4 to 7 as they were: what reads all rows cannot join.
// CHECK-LABEL: func.func @half
// CHECK: %[[Y:.*]] = scf.forall
// CHECK-NOT: arith.negf
// CHECK: scf.forall.in_parallel
// CHECK: scf.forall
// CHECK: tensor.extract_slice %[[Y]]
// CHECK: arith.negf
func.func @half(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %y = scf.forall (%i) in (4) shared_outs(%out = %x) -> tensor<8x16xf32> {
    %row = tensor.extract_slice %x[%i, 0] [1, 16] [1, 1] : tensor<8x16xf32> to tensor<1x16xf32>
    %twice = arith.addf %row, %row : tensor<1x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %twice into %out[%i, 0] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<8x16xf32>
    }
  }
  %empty = tensor.empty() : tensor<8x16xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<8x16xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<8x16xf32>
  return %z : tensor<8x16xf32>
}
