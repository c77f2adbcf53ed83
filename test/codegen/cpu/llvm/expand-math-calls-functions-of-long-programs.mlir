// RUN: %python %S/../Inputs/chain.py 600 math.tanh math.exp arith.mulf > %t.mlir
// RUN: drawloom-run %t.mlir --compile-to=kernels | drawloom-opt --cpu-expand-math | FileCheck %s
// RUN: drawloom-run %t.mlir --random --compare=interpreter
// RUN: %python %S/../Inputs/chain.py 40 math.tanh math.exp > %t.short.mlir
// RUN: drawloom-run %t.short.mlir --compile-to=kernels | drawloom-opt --cpu-expand-math | FileCheck %s --check-prefix=SHORT

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-DAG: func.func private @[[TANH:.*tanh]](%{{.*}}: vector<{{.*}}xf32>) -> vector<{{.*}}xf32> attributes {{.*}}passthrough = ["noinline"]
// CHECK-DAG: func.func private @[[EXP:.*exp]](%{{.*}}: vector<
// CHECK: call @{{.*tanh|.*exp}}
// SHORT-NOT: call
