// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-run %s --open --random --shape=0:3x1000 --compare=interpreter --threads=2
// RUN: drawloom-run %s --open --compile-to=kernels | FileCheck %s

// Both kernels use the same memory, one after the other: 8 bytes a token for the first, of which the second needs 4.
// CHECK: scratch_terms = [{bytes = 8 : i64, extents = array<i64: 1>}]
func.func @f(%x: tensor<?x?xf32>) -> (tensor<?x?xf32> {drawloom.extents = array<i64: 0, 1>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %start = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %last = arith.subi %m, %c1 : index
  %empty = tensor.empty(%n, %m) : tensor<?x?xf32>
  %y = scf.forall (%i) in (%n) shared_outs(%out = %empty) -> tensor<?x?xf32> {
    %free = tensor.empty(%m) : tensor<?xf32>
    %also_free = tensor.empty(%m) : tensor<?xf32>
    %greatest, %greatest_last = scf.for %j = %c0 to %m step %c1 iter_args(%to = %free, %sum = %start) -> (tensor<?xf32>, f32) {
      %a = tensor.extract %x[%i, %j] : tensor<?x?xf32>
      %next = arith.maximumf %sum, %a : f32
      %with = tensor.insert %next into %to[%j] : tensor<?xf32>
      scf.yield %with, %next : tensor<?xf32>, f32
    }
    %least, %least_last = scf.for %j = %c0 to %m step %c1 iter_args(%to = %also_free, %sum = %start) -> (tensor<?xf32>, f32) {
      %a = tensor.extract %x[%i, %j] : tensor<?x?xf32>
      %next = arith.minimumf %sum, %a : f32
      %with = tensor.insert %next into %to[%j] : tensor<?xf32>
      scf.yield %with, %next : tensor<?xf32>, f32
    }
    %row = tensor.extract_slice %out[%i, 0] [1, %m] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
    %given = scf.for %j = %c0 to %m step %c1 iter_args(%to = %row) -> (tensor<?xf32>) {
      %back = arith.subi %last, %j : index
      %a = tensor.extract %greatest[%back] : tensor<?xf32>
      %b = tensor.extract %least[%j] : tensor<?xf32>
      %both = arith.subf %a, %b : f32
      %with = tensor.insert %both into %to[%j] : tensor<?xf32>
      scf.yield %with : tensor<?xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %given into %out[%i, 0] [1, %m] [1, 1] : tensor<?xf32> into tensor<?x?xf32>
    }
  }
  %other = tensor.empty(%n, %m) : tensor<?x?xf32>
  %z = scf.forall (%i) in (%n) shared_outs(%out = %other) -> tensor<?x?xf32> {
    %free = tensor.empty(%m) : tensor<?xf32>
    %greatest, %greatest_last = scf.for %j = %c0 to %m step %c1 iter_args(%to = %free, %sum = %start) -> (tensor<?xf32>, f32) {
      %a = tensor.extract %y[%i, %j] : tensor<?x?xf32>
      %next = arith.maximumf %sum, %a : f32
      %with = tensor.insert %next into %to[%j] : tensor<?xf32>
      scf.yield %with, %next : tensor<?xf32>, f32
    }
    %row = tensor.extract_slice %out[%i, 0] [1, %m] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
    %given = scf.for %j = %c0 to %m step %c1 iter_args(%to = %row) -> (tensor<?xf32>) {
      %back = arith.subi %last, %j : index
      %a = tensor.extract %greatest[%back] : tensor<?xf32>
      %with = tensor.insert %a into %to[%j] : tensor<?xf32>
      scf.yield %with : tensor<?xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %given into %out[%i, 0] [1, %m] [1, 1] : tensor<?xf32> into tensor<?x?xf32>
    }
  }
  return %z : tensor<?x?xf32>
}
