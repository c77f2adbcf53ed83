// RUN: %for_each M=0,1,3 N=1,5 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<$Nxf64>, %w: tensor<$Nxf64>) -> tensor<$Nxf64> {
  %lo = arith.constant 0 : index
  %step = arith.constant 1 : index
  %up = arith.constant $M : index
  %two = arith.constant 2 : index
  %y = scf.for %i = %lo to %up step %step iter_args(%h = %x) -> tensor<$Nxf64> {
    %r = arith.remui %i, %two : index
    %c = arith.cmpi eq, %r, %lo : index
    %z = scf.if %c -> tensor<$Nxf64> {
      %a = arith.mulf %h, %w : tensor<$Nxf64>
      %s = math.sin %a : tensor<$Nxf64>
      scf.yield %s : tensor<$Nxf64>
    } else {
      %s = math.cos %h : tensor<$Nxf64>
      scf.yield %s : tensor<$Nxf64>
    }
    scf.yield %z : tensor<$Nxf64>
  }
  return %y : tensor<$Nxf64>
}

func.func @gradients() {
  check.gradient @f wrt [0, 1]
  return
}
