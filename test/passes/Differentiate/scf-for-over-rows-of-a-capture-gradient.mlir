// RUN: %for_each M=0,1,3 N=1,5 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<$Mx$Nxf64>, %z: tensor<$Nxf64>) -> tensor<$Nxf64> {
  %lo = arith.constant 0 : index
  %step = arith.constant 1 : index
  %up = arith.constant $M : index
  %y = scf.for %i = %lo to %up step %step iter_args(%h = %z) -> tensor<$Nxf64> {
    %r = tensor.extract_slice %x[%i, 0] [1, $N] [1, 1]
        : tensor<$Mx$Nxf64> to tensor<$Nxf64>
    %q = arith.mulf %r, %h : tensor<$Nxf64>
    %a = math.sin %q : tensor<$Nxf64>
    scf.yield %a : tensor<$Nxf64>
  }
  return %y : tensor<$Nxf64>
}

func.func @gradients() {
  check.gradient @f wrt [0, 1]
  return
}
