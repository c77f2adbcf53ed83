// RUN: drawloom-opt %s --cpu-schedule=isa=avx2 --cpu-verify-vectors | FileCheck %s

// 100 = 3 * 32 + 4: one loop and one short vector, none of 100 elements.
// CHECK-LABEL: func.func @add
// CHECK: %[[MAIN:.*]] = scf.for {{.*}} = %c0 to %c96 step %c32
// CHECK: arith.addf {{.*}} : vector<32xf32>
// CHECK: vector.transfer_read %{{.*}}[%c96]{{.*}} vector<4xf32>
// CHECK: arith.addf {{.*}} : vector<4xf32>
// CHECK: vector.transfer_write {{.*}}, %[[MAIN]][%c96]
func.func @add(%x: tensor<100xf32>, %y: tensor<100xf32>) -> tensor<100xf32> {
  %z = arith.addf %x, %y : tensor<100xf32>
  return %z : tensor<100xf32>
}
