// RUN: %python %S/../Inputs/chain.py --type=64x2xf32 300 arith.mulf arith.addf > %t.mlir
// RUN: drawloom-run %t.mlir --compile-to=vectors --isa=avx512 | FileCheck %s
// RUN: drawloom-run %t.mlir --random --compare=interpreter
// RUN: %python %S/../Inputs/chain.py --type=64x2xf32 40 arith.mulf arith.addf > %t.short.mlir
// RUN: drawloom-run %t.short.mlir --compile-to=vectors --isa=avx512 | FileCheck %s --check-prefix=SHORT

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Each row of a vector is one operation of LLVM's for each op: 64 rows of 300
// would be a block that takes minutes to compile.
// CHECK: scf.for
// CHECK: arith.mulf {{.*}} : vector<2x2xf32>
// CHECK-NOT: vector<{{[0-9][0-9]|[4-9]}}x2xf32>
// SHORT: arith.mulf {{.*}} : vector<16x2xf32>
