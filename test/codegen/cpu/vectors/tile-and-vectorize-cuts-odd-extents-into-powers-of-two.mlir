// RUN: drawloom-opt %s --cpu-tile-and-vectorize=isa=avx2 --cpu-verify-vectors --verify-semantics | FileCheck %s

// 200 = 6 * 32 + 8: one loop and one short vector, none of 200 elements.
// CHECK-LABEL: func.func @add
// CHECK: %[[MAIN:.*]] = scf.for {{.*}} = %c0 to %c192 step %c32
// CHECK: arith.addf {{.*}} : vector<32xf32>
// CHECK: vector.transfer_read %{{.*}}[%c192]{{.*}} vector<8xf32>
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK: vector.transfer_write {{.*}}, %[[MAIN]][%c192]
func.func @add(%x: tensor<200xf32>, %y: tensor<200xf32>) -> tensor<200xf32> {
  %z = arith.addf %x, %y : tensor<200xf32>
  return %z : tensor<200xf32>
}
