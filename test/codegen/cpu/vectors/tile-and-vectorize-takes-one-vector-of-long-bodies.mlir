// RUN: %python %S/../Inputs/chain.py 300 arith.maximumf arith.addf arith.minimumf arith.subf --type=8x64xf32 > %t.long.mlir
// RUN: drawloom-run %t.long.mlir --isa=avx2 --compile-to=vectors | FileCheck %s --check-prefix=LONG
// RUN: %python %S/../Inputs/chain.py 20 arith.maximumf arith.addf arith.minimumf arith.subf --type=8x64xf32 > %t.short.mlir
// RUN: drawloom-run %t.short.mlir --isa=avx2 --compile-to=vectors | FileCheck %s --check-prefix=SHORT

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// LONG: arith.addf %{{.*}} : vector<8xf32>
// LONG-NOT: vector<32xf32>
// SHORT: arith.addf %{{.*}} : vector<32xf32>
