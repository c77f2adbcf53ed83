// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Blocks own 100 rows, the last one what is left: 64 of them are filled at once, then one by one. There is one start more than rows.
// RUN: drawloom-run %s --open --target=emulator --random --shape=0:1x8 --shape=1:2 --compare=interpreter
// RUN: drawloom-run %s --open --target=emulator --random --shape=0:100x8 --shape=1:101 --compare=interpreter
// RUN: drawloom-run %s --open --target=emulator --random --shape=0:364x8 --shape=1:365 --compare=interpreter
// RUN: drawloom-run %s --target=emulator --random --shape=0:365x8 --shape=1:366 --compare=interpreter
// RUN: not drawloom-run %s --open --target=emulator --random --shape=0:365x8 --shape=1:365 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: argument 1 of @rows is given with extent 365 in dimension 0, which has to be that of dimension 0 of argument 0 plus 1, 366

func.func @rows(%x: tensor<?x8xf32>, %starts: tensor<?xi32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c99 = arith.constant 99 : index
  %c100 = arith.constant 100 : index
  %one = arith.constant 1.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %m = tensor.dim %starts, %c0 : tensor<?xi32>
  %less = arith.subi %m, %c1 : index
  %same = arith.cmpi eq, %n, %less : index
  cf.assert %same, "starts are one more than rows"
  %up = arith.addi %less, %c99 : index
  %blocks = arith.divui %up, %c100 : index
  %empty = tensor.empty(%n) : tensor<?x8xf32>
  %y = scf.forall (%b) in (%blocks) shared_outs(%out = %empty) -> (tensor<?x8xf32>) {
    %first = arith.muli %b, %c100 : index
    %left = arith.subi %less, %first : index
    %own = arith.minsi %left, %c100 : index
    %part = tensor.extract_slice %out[%first, 0] [%own, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
    %start = linalg.fill ins(%one : f32) outs(%part : tensor<?x8xf32>) -> tensor<?x8xf32>
    %all = scf.for %i = %c0 to %own step %c1 iter_args(%rows = %start) -> (tensor<?x8xf32>) {
      %at = arith.addi %first, %i : index
      %k = tensor.extract %starts[%at] : tensor<?xi32>
      %number = arith.sitofp %k : i32 to f32
      %row = tensor.extract_slice %x[%at, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
      %old = tensor.extract_slice %rows[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
      %new = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
          ins(%row : tensor<8xf32>) outs(%old : tensor<8xf32>) {
      ^bb0(%a: f32, %o: f32):
        %p = arith.mulf %a, %number : f32
        %s = arith.addf %o, %p : f32
        linalg.yield %s : f32
      } -> tensor<8xf32>
      %put = tensor.insert_slice %new into %rows[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<?x8xf32>
      scf.yield %put : tensor<?x8xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %all into %out[%first, 0] [%own, 8] [1, 1] : tensor<?x8xf32> into tensor<?x8xf32>
    }
  }
  return %y : tensor<?x8xf32>
}
