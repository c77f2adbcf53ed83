// RUN: not drawloom-translate --mlir-to-ttir --compile-from=blocks %s 2> %t > %t.out
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=OUT --allow-empty < %t.out

// Both kernels are named, and nothing is printed as if it were a program.
// CHECK: error: no TTIR for 'math.ipowi'
// CHECK: error: no TTIR for 'math.ctpop'
// OUT-NOT: tt.func
func.func @two(%x: tensor<2x8xi32>) -> (tensor<2x8xi32>, tensor<2x8xi32>) {
  %e = tensor.empty() : tensor<2x8xi32>
  %y = scf.forall (%i) in (2) shared_outs(%out = %e) -> (tensor<2x8xi32>) {
    %r = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<2x8xi32> to tensor<8xi32>
    %p = math.ipowi %r, %r : tensor<8xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %p into %out[%i, 0] [1, 8] [1, 1] : tensor<8xi32> into tensor<2x8xi32>
    }
  }
  %z = scf.forall (%i) in (2) shared_outs(%out = %e) -> (tensor<2x8xi32>) {
    %r = tensor.extract_slice %y[%i, 0] [1, 8] [1, 1] : tensor<2x8xi32> to tensor<8xi32>
    %p = math.ctpop %r : tensor<8xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %p into %out[%i, 0] [1, 8] [1, 1] : tensor<8xi32> into tensor<2x8xi32>
    }
  }
  return %y, %z : tensor<2x8xi32>, tensor<2x8xi32>
}
