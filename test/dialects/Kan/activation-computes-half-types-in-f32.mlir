// RUN: drawloom-opt %s --decompose-graph | FileCheck %s

// CHECK-LABEL: func.func @bf16
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: math.exp %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @bf16(%x: bf16) -> bf16 {
  %0 = kan.sigmoid %x : bf16
  return %0 : bf16
}

// CHECK-LABEL: func.func @f16
// CHECK: arith.extf %{{.*}} : vector<8xf16> to vector<8xf32>
// CHECK: math.tanh %{{.*}} : vector<8xf32>
// CHECK: arith.truncf %{{.*}} : vector<8xf32> to vector<8xf16>
func.func @f16(%x: vector<8xf16>) -> vector<8xf16> {
  %0 = kan.tanh %x : vector<8xf16>
  return %0 : vector<8xf16>
}
