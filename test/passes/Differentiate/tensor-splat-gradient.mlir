// RUN: %for_each M=0,1,3 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: f64) -> tensor<$Mx2xf64> {
  %e = math.exp %x : f64
  %z = tensor.splat %e : tensor<$Mx2xf64>
  return %z : tensor<$Mx2xf64>
}

func.func @gradients() {
  check.gradient @f wrt [0]
  return
}
