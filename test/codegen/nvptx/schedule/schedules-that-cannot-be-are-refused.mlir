// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: echo '{"f": {"warp": 8}}' > %t.json
// RUN: not drawloom-translate %s --mlir-to-schedules --schedule=%t.json 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: the schedules of '{{.*}}': 'f': a schedule has no 'warp', but rows, warps and staging; did you mean 'warps'?
// RUN: echo '{"f": {"warps": 3}}' > %t.json
// RUN: not drawloom-translate %s --mlir-to-schedules --schedule=%t.json 2>&1 | FileCheck %s --check-prefix=WARPS
// WARPS: 'f': a schedule's warps cannot be 3: a block has 1, 2, 4, 8, 16 or 32
// RUN: echo '{"g": {"warps": 4}}' > %t.json
// RUN: not drawloom-translate %s --mlir-to-schedules --schedule=%t.json 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: there is no function 'g'
// RUN: echo '{"f_0": {"rows": 4}}' > %t.json
// RUN: not drawloom-translate %s --mlir-to-schedules --schedule=%t.json 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: rows are those of all tiles of a function: say them of 'f', not of its kernel 'f_0'
// RUN: echo '{"f_7": {"warps": 4}}' > %t.json
// RUN: not drawloom-translate %s --mlir-to-schedules --schedule=%t.json 2>&1 | FileCheck %s --check-prefix=KERNEL
// KERNEL: has a schedule of the kernel 'f_7', but its kernels are 'f_0' to 'f_0'
// RUN: echo '[' > %t.json
// RUN: not drawloom-translate %s --mlir-to-schedules --schedule=%t.json 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: the schedules of '{{.*}}': no JSON:
// RUN: not drawloom-translate %s --mlir-to-schedules --schedule=%t.none 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: the schedules of '{{.*}}.none' cannot be read: No such file
func.func @f(%x: tensor<65536x512xf32>, %y: tensor<65536x512xf32>) -> tensor<65536x512xf32> {
  %r = arith.addf %x, %y : tensor<65536x512xf32>
  return %r : tensor<65536x512xf32>
}
