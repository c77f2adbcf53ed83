// RUN: %for_each M=0,1,3 N=1,5 %s | drawloom-opt -split-input-file --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%x: tensor<$Nxf64>, %s: f64) -> (tensor<$Nxf64>, f64) {
  %lo = arith.constant 0 : index
  %step = arith.constant 1 : index
  %up = arith.constant $M : index
  %c0 = arith.constant 0 : index
  %y:3 = scf.for %i = %lo to %up step %step
      iter_args(%h = %x, %t = %s, %n = %c0) -> (tensor<$Nxf64>, f64, index) {
    %b = tensor.splat %t : tensor<$Nxf64>
    %a = arith.mulf %h, %b : tensor<$Nxf64>
    %e = math.sin %a : tensor<$Nxf64>
    %k = arith.index_cast %n : index to i64
    %f = arith.sitofp %k : i64 to f64
    %u = arith.mulf %t, %f : f64
    %v = math.cos %u : f64
    %m = arith.addi %n, %step : index
    scf.yield %e, %v, %m : tensor<$Nxf64>, f64, index
  }
  return %y#0, %y#1 : tensor<$Nxf64>, f64
}

func.func @gradients() {
  check.gradient @f wrt [0, 1]
  return
}
