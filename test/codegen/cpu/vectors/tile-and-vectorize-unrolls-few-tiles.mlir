// RUN: drawloom-opt %s --cpu-tile-and-vectorize=isa=avx2 --verify-semantics | FileCheck %s

// Four tiles at constant offsets need no loop, so that what an outer loop
// carries can stay in registers.
// CHECK-LABEL: func.func @scale
// CHECK-NOT: scf.for
// CHECK-COUNT-4: arith.mulf {{.*}} : vector<32xf32>
func.func @scale(%x: tensor<128xf32>) -> tensor<128xf32> {
  %y = arith.mulf %x, %x : tensor<128xf32>
  return %y : tensor<128xf32>
}
