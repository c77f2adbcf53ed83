// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-block-to-tile -split-input-file -verify-diagnostics

func.func @unknown_number(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> attributes {drawloom.kernel} {
  %e = tensor.empty() : tensor<8xf32>
  // expected-error @+1 {{the number of blocks is not known}}
  %y = scf.forall (%b) in (%n) shared_outs(%o = %e) -> (tensor<8xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[0] [8] [1] : tensor<8xf32> into tensor<8xf32>
    }
  }
  return %y : tensor<8xf32>
}

// -----

func.func @blocks_inside_of_blocks(%x: tensor<8xf32>) -> tensor<8xf32> attributes {drawloom.kernel} {
  %e = tensor.empty() : tensor<8xf32>
  %y = scf.forall (%b) in (2) shared_outs(%o = %e) -> (tensor<8xf32>) {
    // expected-error @+1 {{blocks inside of blocks have no form on a GPU}}
    %z = scf.forall (%c) in (2) shared_outs(%p = %e) -> (tensor<8xf32>) {
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %x into %p[0] [8] [1] : tensor<8xf32> into tensor<8xf32>
      }
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %z into %o[0] [8] [1] : tensor<8xf32> into tensor<8xf32>
    }
  }
  return %y : tensor<8xf32>
}

// -----

func.func @a_result_that_nothing_returns(%x: tensor<8xf32>) -> tensor<8xf32> attributes {drawloom.kernel} {
  %e = tensor.empty() : tensor<8xf32>
  %y = scf.forall (%b) in (1) shared_outs(%o = %e) -> (tensor<8xf32>) {
    scf.forall.in_parallel {
      // expected-error @+1 {{writes a result that nothing returns}}
      tensor.parallel_insert_slice %x into %o[0] [8] [1] : tensor<8xf32> into tensor<8xf32>
    }
  }
  return %x : tensor<8xf32>
}

// -----

// expected-error @+1 {{is no block program: it has branches}}
func.func @branches(%x: tensor<8xf32>) -> tensor<8xf32> attributes {drawloom.kernel} {
  cf.br ^next
^next:
  return %x : tensor<8xf32>
}

// -----

func.func @while_loops(%x: tensor<8xf32>, %go: i1) -> tensor<8xf32> attributes {drawloom.kernel} {
  // expected-error @+1 {{'scf.while' op has no form on a GPU yet}}
  scf.while : () -> () {
    scf.condition(%go)
  } do {
    scf.yield
  }
  return %x : tensor<8xf32>
}
