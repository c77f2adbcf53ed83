// RUN: drawloom-translate --mlir-to-ttir --compile-from=blocks %s | FileCheck %s

// The rows that the loop inserts one by one are stored where they belong: they
// are not carried as a tile, and not stored again behind the loop.
// CHECK-LABEL: @fill_rows_0
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} : i64 {
// CHECK-NOT: iter_args
// CHECK: tt.store
// CHECK-NOT: tt.store
// CHECK: tt.return
func.func @fill_rows() -> tensor<32x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant 16 : index
  %empty = tensor.empty() : tensor<32x64xf32>
  %y = scf.forall (%block) in (2) shared_outs(%out = %empty) -> (tensor<32x64xf32>) {
    %first = affine.apply affine_map<(i) -> (i * 16)>(%block)
    %slot = tensor.extract_slice %out[%first, 0] [16, 64] [1, 1] : tensor<32x64xf32> to tensor<16x64xf32>
    %tile = scf.for %i = %c0 to %rows step %c1 iter_args(%done = %slot) -> (tensor<16x64xf32>) {
      %row = tensor.extract_slice %done[%i, 0] [1, 64] [1, 1] : tensor<16x64xf32> to tensor<64xf32>
      %i32 = arith.index_cast %i : index to i32
      %number = arith.sitofp %i32 : i32 to f32
      %filled = linalg.fill ins(%number : f32) outs(%row : tensor<64xf32>) -> tensor<64xf32>
      %next = tensor.insert_slice %filled into %done[%i, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<16x64xf32>
      scf.yield %next : tensor<16x64xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %tile into %out[%first, 0] [16, 64] [1, 1] : tensor<16x64xf32> into tensor<32x64xf32>
    }
  }
  return %y : tensor<32x64xf32>
}
