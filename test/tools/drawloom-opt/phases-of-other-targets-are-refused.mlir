// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: not drawloom-opt %s --phase-tiles=target=cpu 2>&1 | FileCheck %s
// RUN: not drawloom-opt %s --phase-structured=target=gpu 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not drawloom-opt %s --phase-vectors=isa=avx,avx2 2>&1 | FileCheck %s --check-prefix=SET
// RUN: not drawloom-run %s --target=cuda --compile-to=vectors 2>&1 | FileCheck %s --check-prefix=TOOL

// CHECK: the target cpu has no phase 'tiles'
// TARGET: 'gpu'
// SET: 'avx'
// TOOL: --compile-to=vectors: there is no such phase; did you mean {{.*}} The phases of the target cuda are
func.func private @f()
