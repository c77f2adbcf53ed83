// RUN: %python %S/Inputs/chain.py 5000 arith.addf arith.maximumf arith.mulf arith.subf > %t.mlir
// RUN: drawloom-run %t.mlir --random --random-integers=0:2 --compare=interpreter | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The bound on operations counts what the program has, and merging a long chain
// does not copy it as often as it is long.
// CHECK: result0: {{.*}}: passed
