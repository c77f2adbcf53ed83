// RUN: drawloom-opt %s --cpu-expand-math=isa=baseline | FileCheck %s
// RUN: drawloom-opt %s --cpu-expand-math=isa=avx2 | FileCheck %s --check-prefix=CONVERTS

// Without instructions that convert, LLVM would call a function for each number.
// CHECK-LABEL: func.func @sum
// CHECK-NOT: arith.extf
// CHECK-NOT: arith.truncf
// CHECK: arith.addf {{.*}} : vector<4xf32>
// CHECK: arith.trunci {{.*}} : vector<4xi32> to vector<4xi16>
// CHECK-NEXT: arith.bitcast {{.*}} : vector<4xi16> to vector<4xf16>
// CONVERTS-LABEL: func.func @sum
// CONVERTS: arith.extf {{.*}} : vector<4xf16> to vector<4xf32>
// CONVERTS: arith.truncf {{.*}} : vector<4xf32> to vector<4xf16>
func.func @sum(%x: vector<4xf16>, %y: vector<4xf16>) -> vector<4xf16> {
  %s = arith.addf %x, %y : vector<4xf16>
  return %s : vector<4xf16>
}

// From f64 by way of an f32 that keeps one bit of what is lost: one rounding.
// CHECK-LABEL: func.func @narrow
// CHECK: arith.truncf %{{.*}} : f64 to f32
// CHECK: arith.ori
// CHECK: arith.trunci {{.*}} : i32 to i16
// CONVERTS-LABEL: func.func @narrow
// CONVERTS: arith.truncf %{{.*}} : f64 to f16
func.func @narrow(%x: f64) -> f16 {
  %y = arith.truncf %x : f64 to f16
  return %y : f16
}
