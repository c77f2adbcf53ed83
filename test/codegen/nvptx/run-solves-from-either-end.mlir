// RUN: drawloom-run %s --target=emulator --entry=lower --random --compare=interpreter
// RUN: drawloom-run %s --target=emulator --entry=upper --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A column lies in several lanes. Neighbouring rows of the matrix are loaded
// together, whichever of them comes first.
func.func @lower(%a: tensor<16x16xf32>, %b: tensor<2x16x20xf32>) -> tensor<2x16x20xf32> {
  %e = tensor.empty() : tensor<2x16x20xf32>
  %y = scf.forall (%i) in (2) shared_outs(%o = %e) -> (tensor<2x16x20xf32>) {
    %right = tensor.extract_slice %b[%i, 0, 0] [1, 16, 20] [1, 1, 1] : tensor<2x16x20xf32> to tensor<16x20xf32>
    %x = block.solve_triangular lower unit %a outs(%right) : tensor<16x16xf32> -> tensor<16x20xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[%i, 0, 0] [1, 16, 20] [1, 1, 1] : tensor<16x20xf32> into tensor<2x16x20xf32>
    }
  }
  return %y : tensor<2x16x20xf32>
}

func.func @upper(%a: tensor<16x16xf32>, %b: tensor<2x16x20xf32>) -> tensor<2x16x20xf32> {
  %e = tensor.empty() : tensor<2x16x20xf32>
  %y = scf.forall (%i) in (2) shared_outs(%o = %e) -> (tensor<2x16x20xf32>) {
    %right = tensor.extract_slice %b[%i, 0, 0] [1, 16, 20] [1, 1, 1] : tensor<2x16x20xf32> to tensor<16x20xf32>
    %x = block.solve_triangular upper unit %a outs(%right) : tensor<16x16xf32> -> tensor<16x20xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[%i, 0, 0] [1, 16, 20] [1, 1, 1] : tensor<16x20xf32> into tensor<2x16x20xf32>
    }
  }
  return %y : tensor<2x16x20xf32>
}
