// RUN: drawloom-run %s --random --open --shape=0:20 --shape=1:21 --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Two more than what is one more than an extent is three more.
func.func @grow(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = tensor.dim %y, %c0 : tensor<?xf32>
  %n1 = arith.addi %n, %c1 : index
  %same = arith.cmpi eq, %m, %n1 : index
  cf.assert %same, "y has one more"
  %m2 = arith.addi %m, %c2 : index
  %one = tensor.extract_slice %x[0] [1] [1] : tensor<?xf32> to tensor<1xf32>
  %e = tensor.empty(%m2) : tensor<?xf32>
  %b = scf.forall (%i) in (%m2) shared_outs(%out = %e) -> (tensor<?xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %one into %out[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
    }
  }
  return %b : tensor<?xf32>
}
