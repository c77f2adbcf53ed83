// RUN: drawloom-run %s --random --open --shape=0:20 --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is one larger than an extent, and what is two larger, are two.
func.func @grow(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %n1 = arith.addi %n, %c1 : index
  %n2 = arith.addi %n, %c2 : index
  %one = tensor.extract_slice %x[0] [1] [1] : tensor<?xf32> to tensor<1xf32>
  %e1 = tensor.empty(%n1) : tensor<?xf32>
  %a = scf.forall (%i) in (%n1) shared_outs(%out = %e1) -> (tensor<?xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %one into %out[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
    }
  }
  %e2 = tensor.empty(%n2) : tensor<?xf32>
  %b = scf.forall (%i) in (%n2) shared_outs(%out = %e2) -> (tensor<?xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %one into %out[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
    }
  }
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}
