// RUN: drawloom-opt %s --cpu-expand-math=isa=avx512 | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What stays in a register is rounded like what goes through memory.
// CHECK-LABEL: func.func @bf16
// CHECK: math.cbrt {{.*}} : vector<4xf32>
// CHECK: arith.bitcast {{.*}} : vector<4xi16> to vector<4xbf16>
// CHECK: arith.mulf {{.*}} : vector<4xf32>
// CHECK: arith.bitcast {{.*}} : vector<4xi16> to vector<4xbf16>
func.func @bf16(%x: vector<4xbf16>) -> vector<4xbf16> {
  %c = math.cbrt %x : vector<4xbf16>
  %m = arith.mulf %c, %c : vector<4xbf16>
  return %m : vector<4xbf16>
}

// CHECK-LABEL: func.func @f16
// CHECK: arith.mulf {{.*}} : vector<4xf32>
// CHECK: arith.truncf {{.*}} : vector<4xf32> to vector<4xf16>
// CHECK: arith.addf {{.*}} : vector<4xf32>
// CHECK: arith.truncf {{.*}} : vector<4xf32> to vector<4xf16>
func.func @f16(%x: vector<4xf16>) -> vector<4xf16> {
  %c = arith.mulf %x, %x : vector<4xf16>
  %m = arith.addf %c, %x : vector<4xf16>
  return %m : vector<4xf16>
}
