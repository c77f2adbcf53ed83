// RUN: drawloom-run %s --random --compare=interpreter | FileCheck %s
// CHECK: passed

// One sum for each row, in one column of y: a vector without dimensions would
// have to be read and written where elements are not next to each other.
#row = affine_map<(r, c) -> (r, c)>
#sum = affine_map<(r, c) -> (r)>
func.func @row_sums(%a: tensor<32x4x16xf32>, %b: tensor<32x4x16xf32>, %init: tensor<32x4xf32>) -> tensor<32x4xf32> {
  %r = scf.forall (%head) in (4) shared_outs(%out = %init) -> (tensor<32x4xf32>) {
    %own_a = tensor.extract_slice %a[0, %head, 0] [32, 1, 16] [1, 1, 1] : tensor<32x4x16xf32> to tensor<32x16xf32>
    %own_b = tensor.extract_slice %b[0, %head, 0] [32, 1, 16] [1, 1, 1] : tensor<32x4x16xf32> to tensor<32x16xf32>
    %slot = tensor.extract_slice %out[0, %head] [32, 1] [1, 1] : tensor<32x4xf32> to tensor<32xf32>
    %sum = linalg.contract indexing_maps = [#row, #row, #sum]
      ins(%own_a, %own_b : tensor<32x16xf32>, tensor<32x16xf32>) outs(%slot : tensor<32xf32>) -> tensor<32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %out[0, %head] [32, 1] [1, 1] : tensor<32xf32> into tensor<32x4xf32>
    }
  }
  return %r : tensor<32x4xf32>
}
