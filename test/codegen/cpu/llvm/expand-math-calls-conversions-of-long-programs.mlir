// RUN: %python %S/../Inputs/chain.py 1600 arith.maximumf arith.addf arith.minimumf arith.subf --type=8x16xbf16 > %t.mlir
// RUN: drawloom-run %t.mlir --isa=avx2 --compile-to=kernels | drawloom-opt --cpu-expand-math=isa=avx2 | FileCheck %s
// RUN: drawloom-run %t.mlir --random --compare=interpreter
// RUN: drawloom-run %t.mlir --isa=avx512 --compile-to=kernels | drawloom-opt --cpu-expand-math=isa=avx512 | FileCheck %s
// RUN: %python %S/../Inputs/chain.py 20 arith.maximumf arith.addf arith.minimumf arith.subf --type=8x16xbf16 > %t.short.mlir
// RUN: drawloom-run %t.short.mlir --isa=avx2 --compile-to=kernels | drawloom-opt --cpu-expand-math=isa=avx2 | FileCheck %s --check-prefix=SHORT

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK: func.func private @[[TRUNCF:.*truncf]](%{{.*}}: vector<{{.*}}xf32>) -> vector<{{.*}}xbf16> attributes {{.*}}passthrough = ["noinline"]
// CHECK: call @{{.*truncf}}
// SHORT-NOT: call
