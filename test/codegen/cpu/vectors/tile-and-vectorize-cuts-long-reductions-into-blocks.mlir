// RUN: drawloom-opt %s --pass-pipeline='builtin.module(func.func(cpu-tile-and-vectorize{isa=avx2}))' | FileCheck %s
// RUN: drawloom-opt %s --cpu-tile-and-vectorize=isa=avx2 --verify-semantics --verify-semantics-entry=together -o /dev/null

// A reduction of more than 2048 steps goes in blocks of as many. The first one
// starts the sums: no sum is read of memory before. Those in the middle are a
// loop. Behind the last one, its reader has the sums in registers.
// CHECK-LABEL: func.func @deep
// CHECK: %[[ZERO:.+]] = arith.constant dense<0.000000e+00> : vector<6x16xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c2048 step %c1 iter_args({{.*}} = %[[ZERO]]) -> (vector<6x16xf32>)
// CHECK: scf.for %{{.*}} = %c2048 to %c6144 step %c2048
// CHECK: vector.transfer_read
// CHECK: vector.contract
// CHECK: vector.transfer_write
// CHECK: scf.for %{{.*}} = %c0 to %c56 step %c1
// CHECK: vector.contract
// CHECK: arith.maximumf %{{.*}}, %{{.*}} : vector<6x16xf32>
// CHECK-NEXT: vector.transfer_write
func.func @deep(%x: tensor<12x6200xf32>, %w: tensor<6200x16xf32>) -> tensor<12x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<12x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<12x16xf32>) -> tensor<12x16xf32>
  %y = linalg.matmul ins(%x, %w : tensor<12x6200xf32>, tensor<6200x16xf32>) outs(%start : tensor<12x16xf32>) -> tensor<12x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<12x16xf32>) outs(%empty : tensor<12x16xf32>) {
  ^bb0(%a: f32, %out: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<12x16xf32>
  return %r : tensor<12x16xf32>
}

// Two that read %x along the same steps are computed in one loop, block by
// block: 2048 columns of %x are in the cache for both.
// CHECK-LABEL: func.func @together
// CHECK: scf.for %{{.*}} = %c2048 to %c6144 step %c2048 iter_args({{.*}}) -> (tensor<12x16xf32>, vector<8x8xf32>, vector<4x8xf32>)
// CHECK: vector.contract {{.*}} into vector<6x16xf32>
// CHECK: vector.contract {{.*}} into vector<8x8xf32>
// CHECK: vector.contract {{.*}} into vector<4x8xf32>
// CHECK: scf.yield
func.func @together(%x: tensor<12x6200xf32>, %w: tensor<6200x16xf32>, %a: tensor<6200x8xf32>) -> (tensor<12x16xf32>, tensor<12x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<12x16xf32>
  %narrow = tensor.empty() : tensor<12x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<12x16xf32>) -> tensor<12x16xf32>
  %begin = linalg.fill ins(%zero : f32) outs(%narrow : tensor<12x8xf32>) -> tensor<12x8xf32>
  %s = linalg.matmul ins(%x, %a : tensor<12x6200xf32>, tensor<6200x8xf32>) outs(%begin : tensor<12x8xf32>) -> tensor<12x8xf32>
  %y = linalg.matmul ins(%x, %w : tensor<12x6200xf32>, tensor<6200x16xf32>) outs(%start : tensor<12x16xf32>) -> tensor<12x16xf32>
  return %y, %s : tensor<12x16xf32>, tensor<12x8xf32>
}

// The second one needs all of the first.
// CHECK-LABEL: func.func @one_after_the_other
// CHECK: tensor<12x2100xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c2048 step %c1 iter_args({{.*}}) -> (vector<6x16xf32>)
// CHECK: scf.for %{{.*}} = %c0 to %c52 step %c1 iter_args({{.*}}) -> (vector<6x16xf32>)
// CHECK: scf.for %{{.*}} = %c0 to %c2048 step %c1 iter_args({{.*}}) -> (vector<6x16xf32>)
// CHECK: scf.for %{{.*}} = %c0 to %c52 step %c1 iter_args({{.*}}) -> (vector<6x16xf32>)
func.func @one_after_the_other(%x: tensor<12x2100xf32>, %v: tensor<2100x2100xf32>, %w: tensor<2100x16xf32>) -> tensor<12x16xf32> {
  %zero = arith.constant 0.0 : f32
  %wide = tensor.empty() : tensor<12x2100xf32>
  %empty = tensor.empty() : tensor<12x16xf32>
  %begin = linalg.fill ins(%zero : f32) outs(%wide : tensor<12x2100xf32>) -> tensor<12x2100xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<12x16xf32>) -> tensor<12x16xf32>
  %h = linalg.matmul ins(%x, %v : tensor<12x2100xf32>, tensor<2100x2100xf32>) outs(%begin : tensor<12x2100xf32>) -> tensor<12x2100xf32>
  %y = linalg.matmul ins(%h, %w : tensor<12x2100xf32>, tensor<2100x16xf32>) outs(%start : tensor<12x16xf32>) -> tensor<12x16xf32>
  return %y : tensor<12x16xf32>
}
