// RUN: drawloom-opt %s --cpu-expand-math --verify-semantics | FileCheck %s

// CHECK-LABEL: func.func @both
// CHECK: math.tanh {{.*}} : vector<4xf64>
// CHECK-NOT: math.tanh {{.*}} : vector<8xf32>
// CHECK: return
func.func @both(%x: vector<4xf64>, %y: vector<8xf32>) -> (vector<4xf64>, vector<8xf32>) {
  %a = math.tanh %x : vector<4xf64>
  %b = math.tanh %y : vector<8xf32>
  return %a, %b : vector<4xf64>, vector<8xf32>
}
