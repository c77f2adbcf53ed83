// RUN: %python %S/../Inputs/chain.py --type=64x2xbf16 60 math.tanh arith.addf > %t.mlir
// RUN: drawloom-run %t.mlir --compile-to=kernels --isa=avx512bf16 | drawloom-opt --cpu-expand-math=isa=avx512bf16 | FileCheck %s
// RUN: drawloom-run %t.mlir --compile-to=kernels --isa=avx2 | drawloom-opt --cpu-expand-math=isa=avx2 | FileCheck %s
// RUN: drawloom-run %t.mlir --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Thirty functions of tiles of sixteen rows, in bf16 as well as in f32, are
// four hundred and eighty times thirty operations.
// CHECK: func.func private @[[TANH:.*tanh]](%{{.*}}: vector<16x2x{{bf16|f32}}>)
// CHECK: call @[[TANH]]
