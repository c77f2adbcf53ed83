// RUN: drawloom-run %s --target=emulator --random --compare=interpreter
// RUN: drawloom-opt %s --nvptx-outline-kernels | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A number that one kernel computes is read by the next one where the first has left it.
// CHECK-LABEL: func.func private @main_1(%arg0: tensor<f32>
// CHECK-NEXT: tensor.extract %arg0[] : tensor<f32>
func.func @main(%x: tensor<16xf32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %s = scf.for %i = %c0 to %c16 step %c1 iter_args(%a = %zero) -> (f32) {
    %v = tensor.extract %x[%i] : tensor<16xf32>
    %n = arith.addf %a, %v : f32
    scf.yield %n : f32
  }
  %e = tensor.empty() : tensor<f32>
  %r = scf.forall (%b) in (1) shared_outs(%o = %e) -> (tensor<f32>) {
    %f = linalg.fill ins(%s : f32) outs(%o : tensor<f32>) -> tensor<f32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %o[] [] [] : tensor<f32> into tensor<f32>
    }
  } {mapping = [#gpu.block<x>]}
  return %r : tensor<f32>
}
