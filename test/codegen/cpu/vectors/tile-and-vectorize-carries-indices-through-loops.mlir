// RUN: drawloom-run %s --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#t = affine_map<(t) -> (t)>
func.func @count(%x: tensor<16xf32>) -> tensor<2x16xindex> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %e = tensor.empty() : tensor<2x16xindex>
  %y = scf.forall (%b) in (2) shared_outs(%o = %e) -> (tensor<2x16xindex>) {
    %te = tensor.empty() : tensor<16xindex>
    %start = linalg.fill ins(%b : index) outs(%te : tensor<16xindex>) -> tensor<16xindex>
    %sum = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %start) -> (tensor<16xindex>) {
      %next = linalg.generic {indexing_maps = [#t], iterator_types = ["parallel"]} outs(%s : tensor<16xindex>) {
      ^bb0(%out: index):
        %t = linalg.index 0 : index
        %p = arith.muli %t, %i : index
        %r = arith.addi %out, %p : index
        linalg.yield %r : index
      } -> tensor<16xindex>
      scf.yield %next : tensor<16xindex>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %o[%b, 0] [1, 16] [1, 1] : tensor<16xindex> into tensor<2x16xindex>
    }
  }
  return %y : tensor<2x16xindex>
}
