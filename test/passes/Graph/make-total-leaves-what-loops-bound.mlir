// RUN: drawloom-opt %s --make-total --verify-semantics | FileCheck %s

// CHECK-LABEL: func.func @blocks
// CHECK-NOT: arith.minsi
// CHECK-NOT: arith.maxsi
// CHECK-NOT: arith.select
func.func @blocks(%x: tensor<100x8xf32>, %f: tensor<20xf32>) -> (tensor<96x8xf32>, tensor<20xf32>) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c20 = arith.constant 20 : index
  %e = tensor.empty() : tensor<96x8xf32>
  %y = scf.forall (%b) in (3) shared_outs(%o = %e) -> tensor<96x8xf32> {
    %row = affine.apply affine_map<(d0) -> (d0 * 32)>(%b)
    %s = tensor.extract_slice %x[%row, 0] [32, 8] [1, 1] : tensor<100x8xf32> to tensor<32x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%row, 0] [32, 8] [1, 1] : tensor<32x8xf32> into tensor<96x8xf32>
    }
  }
  // The last one starts at 15.
  %z = scf.for %i = %c0 to %c20 step %c5 iter_args(%a = %f) -> tensor<20xf32> {
    %q = tensor.extract_slice %f[%i] [5] [1] : tensor<20xf32> to tensor<5xf32>
    %half = arith.divui %i, %c5 : index
    %r = arith.remui %i, %c5 : index
    %l = arith.shli %half, %c5 : index
    %v = tensor.extract %f[%half] : tensor<20xf32>
    %t = tensor.insert_slice %q into %a[%i] [5] [1] : tensor<5xf32> into tensor<20xf32>
    %n = tensor.insert %v into %t[%r] : tensor<20xf32>
    scf.yield %n : tensor<20xf32>
  }
  return %y, %z : tensor<96x8xf32>, tensor<20xf32>
}
