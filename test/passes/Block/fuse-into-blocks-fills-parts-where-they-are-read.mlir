// RUN: drawloom-opt %s --fuse-into-blocks --verify-semantics=1 | FileCheck %s

// Parts of a tensor that has one value everywhere need no memory for the whole of it, whether loops say their sizes or not, and rows of
// zeros by index are zeros.

// CHECK-LABEL: func.func @parts
// CHECK-NOT: tensor<1024x8xf32>
// CHECK: scf.forall
// CHECK: %[[SUM:.*]] = linalg.fill {{.*}} -> tensor<16x8xf32>
// CHECK-NOT: block.gather
// CHECK: tensor.parallel_insert_slice
func.func @parts(%starts: tensor<5xi64>) -> tensor<64x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %large = tensor.empty() : tensor<1024x8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%large : tensor<1024x8xf32>) -> tensor<1024x8xf32>
  %out = tensor.empty() : tensor<64x8xf32>
  %found = scf.forall (%i) in (4) shared_outs(%o = %out) -> (tensor<64x8xf32>) {
    %next = arith.addi %i, %c1 : index
    %first = tensor.extract %starts[%i] : tensor<5xi64>
    %end = tensor.extract %starts[%next] : tensor<5xi64>
    %from = arith.index_cast %first : i64 to index
    %to = arith.index_cast %end : i64 to index
    %length = arith.subi %to, %from : index
    %sequence = tensor.extract_slice %zeros[%from, 0] [%length, 8] [1, 1] : tensor<1024x8xf32> to tensor<?x8xf32>
    %rows = tensor.empty() : tensor<16xindex>
    %at = linalg.generic {indexing_maps = [affine_map<(r) -> (r)>], iterator_types = ["parallel"]} outs(%rows : tensor<16xindex>) {
    ^bb0(%unused: index):
      %r = linalg.index 0 : index
      %in = arith.cmpi slt, %r, %length : index
      %no = arith.constant -1 : index
      %row = arith.select %in, %r, %no : index
      linalg.yield %row : index
    } -> tensor<16xindex>
    %init = tensor.empty() : tensor<16x8xf32>
    %tile = block.gather %sequence[%at] outs(%init) : tensor<?x8xf32>[tensor<16xindex>] -> tensor<16x8xf32>
    %place = arith.muli %i, %c16 : index
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %tile into %o[%place, 0] [16, 8] [1, 1] : tensor<16x8xf32> into tensor<64x8xf32>
    }
  }
  return %found : tensor<64x8xf32>
}
