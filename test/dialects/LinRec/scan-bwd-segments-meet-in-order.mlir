// RUN: drawloom-run %s --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Three segments of an erasing recurrence whose keys are cut in two: what comes
// from the segments behind is multiplied from the other side.
func.func @gradient(%q: tensor<1x48x1x144xf32>, %k0: tensor<1x48x1x144xf32>, %v: tensor<1x48x1x4xf32>, %beta: tensor<1x48x1xf32>, %do: tensor<1x48x1x4xf32>)
    -> (tensor<1x48x1x144xf32>, tensor<1x48x1x144xf32>, tensor<1x48x1x4xf32>, tensor<1x48x1xf32>) {
  %tenth = arith.constant dense<0.1> : tensor<1x48x1x144xf32>
  %k = arith.mulf %k0, %tenth : tensor<1x48x1x144xf32>
  %dq, %dk, %dv, %db = linrec.scan_bwd %q, %k, %v beta(%beta) cotangents(%do) {segments = 3 : i64, chunk = 16 : i64, value_blocks = 1 : i64}
    : (tensor<1x48x1x144xf32>, tensor<1x48x1x144xf32>, tensor<1x48x1x4xf32>, tensor<1x48x1xf32>, tensor<1x48x1x4xf32>)
    -> (tensor<1x48x1x144xf32>, tensor<1x48x1x144xf32>, tensor<1x48x1x4xf32>, tensor<1x48x1xf32>)
  return %dq, %dk, %dv, %db : tensor<1x48x1x144xf32>, tensor<1x48x1x144xf32>, tensor<1x48x1x4xf32>, tensor<1x48x1xf32>
}
