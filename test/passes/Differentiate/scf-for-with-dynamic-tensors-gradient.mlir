// RUN: %for_each M=0,1,3 N=1,5 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<$Nxf64>, %w: tensor<$Nxf64>) -> tensor<$Nxf64> {
  %lo = arith.constant 0 : index
  %step = arith.constant 1 : index
  %up = arith.constant $M : index
  %d = tensor.cast %x : tensor<$Nxf64> to tensor<?xf64>
  %e = tensor.cast %w : tensor<$Nxf64> to tensor<?xf64>
  %z = scf.for %i = %lo to %up step %step iter_args(%h = %d) -> tensor<?xf64> {
    %q = arith.mulf %h, %e : tensor<?xf64>
    %a = math.sin %q : tensor<?xf64>
    scf.yield %a : tensor<?xf64>
  }
  %y = tensor.cast %z : tensor<?xf64> to tensor<$Nxf64>
  return %y : tensor<$Nxf64>
}

func.func @gradients() {
  check.gradient @f wrt [0, 1]
  return
}
