// RUN: drawloom-opt %s --cpu-tile-and-vectorize --verify-semantics=3 | FileCheck %s

// CHECK: vector.contract
// CHECK-NOT: linalg.
func.func @block(%a: tensor<32x48xf32>, %b: tensor<48x64xf32>, %c: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %e = tensor.empty() : tensor<32x64xf32>
  %r = scf.forall (%i) = (0) to (32) step (16) shared_outs(%o = %e) -> tensor<32x64xf32> {
    %at = tensor.extract_slice %a[%i, 0] [16, 48] [1, 1] : tensor<32x48xf32> to tensor<16x48xf32>
    %ct = tensor.extract_slice %c[%i, 0] [16, 64] [1, 1] : tensor<32x64xf32> to tensor<16x64xf32>
    %m = linalg.matmul ins(%at, %b : tensor<16x48xf32>, tensor<48x64xf32>) outs(%ct : tensor<16x64xf32>) -> tensor<16x64xf32>
    %x = linalg.exp ins(%m : tensor<16x64xf32>) outs(%ct : tensor<16x64xf32>) -> tensor<16x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[%i, 0] [16, 64] [1, 1] : tensor<16x64xf32> into tensor<32x64xf32>
    }
  }
  return %r : tensor<32x64xf32>
}
