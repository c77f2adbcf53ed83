// RUN: drawloom-opt %s --cpu-tile-and-vectorize=isa=avx2 --cpu-verify-vectors --verify-semantics | FileCheck %s

// 63 = 32 + 16 + 8 + 4 + 2 + 1: the second vector computes element 31 again.
// CHECK-LABEL: func.func @exp
// CHECK: %[[FIRST:.*]] = vector.transfer_write {{.*}}[%c0] {{.*}} vector<32xf32>
// CHECK: vector.transfer_read %{{.*}}[%c31]{{.*}} vector<32xf32>
// CHECK: vector.transfer_write {{.*}}, %[[FIRST]][%c31] {{.*}} vector<32xf32>
// CHECK-NOT: transfer_write
func.func @exp(%x: tensor<63xf32>) -> tensor<63xf32> {
  %z = math.exp %x : tensor<63xf32>
  return %z : tensor<63xf32>
}

// 7 is below the width of vectors: two of four.
// CHECK-LABEL: func.func @few
// CHECK: vector.transfer_write {{.*}}[%c0] {{.*}} vector<4xf32>
// CHECK: vector.transfer_write {{.*}}[%c3] {{.*}} vector<4xf32>
// CHECK-NOT: transfer_write
func.func @few(%x: tensor<7xf32>) -> tensor<7xf32> {
  %z = math.exp %x : tensor<7xf32>
  return %z : tensor<7xf32>
}

// What is cheap is not worth what comes behind it, which would wait.
// CHECK-LABEL: func.func @cheap
// CHECK: vector.transfer_write {{.*}}[%c0] {{.*}} vector<4xf32>
// CHECK: vector.transfer_write {{.*}}[%c4] {{.*}} vector<2xf32>
func.func @cheap(%x: tensor<7xf32>) -> tensor<7xf32> {
  %z = arith.negf %x : tensor<7xf32>
  return %z : tensor<7xf32>
}

#identity = affine_map<(d0) -> (d0)>

// What is added to a result that is there is added once.
// CHECK-LABEL: func.func @onto
// CHECK: math.absf
// CHECK: math.exp {{.*}} : vector<4xf32>
// CHECK: vector.transfer_write {{.*}}[%c0] {{.*}} vector<4xf32>
// CHECK: math.exp {{.*}} : vector<2xf32>
// CHECK: vector.transfer_write {{.*}}[%c4] {{.*}} vector<2xf32>
func.func @onto(%x: tensor<7xf32>, %y: tensor<7xf32>) -> tensor<7xf32> {
  %start = math.absf %y : tensor<7xf32>
  %z = linalg.generic {indexing_maps = [#identity, #identity], iterator_types = ["parallel"]}
      ins(%x : tensor<7xf32>) outs(%start : tensor<7xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    %c = arith.addf %e, %b : f32
    linalg.yield %c : f32
  } -> tensor<7xf32>
  return %z : tensor<7xf32>
}
