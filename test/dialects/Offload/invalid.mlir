// RUN: drawloom-opt %s --split-input-file --verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @open(%x: tensor<?xf32>) {
  // expected-error @below {{a record has as many bytes as its type says: 'tensor<?xf32>' leaves an extent open}}
  %r = offload.store %x : tensor<?xf32> -> !offload.record<tensor<?xf32>>
  return
}

// -----

func.func @another_type(%x: tensor<8xf32>) {
  // expected-error @below {{gives a record of 'tensor<4xf32>' for a value of type 'tensor<8xf32>'}}
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<4xf32>>
  return
}

// -----

func.func @another_destination(%x: tensor<8xf32>, %y: tensor<8xi32>) {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  // expected-error @below {{gives a record of 'tensor<8xf32>' to a destination of type 'tensor<8xi32>'}}
  %z = offload.await %r into %y : !offload.record<tensor<8xf32>>, tensor<8xi32> -> tensor<8xi32>
  return
}

// -----

func.func @no_result(%x: tensor<8xf32>) {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  // expected-error @below {{has a result where its destination is a tensor, of the same type}}
  offload.await %r into %x : !offload.record<tensor<8xf32>>, tensor<8xf32>
  return
}

// -----

func.func @no_record(%x: tensor<8xf32>) {
  // expected-error @below {{'offload.drop' op operand #0 must be}}
  "offload.drop"(%x) : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @loaded_before(%x: tensor<8xf32>) {
  // expected-error @below {{operand #0 does not dominate this use}}
  offload.load %r : !offload.record<tensor<8xf32>>
  // expected-note @below {{operand defined here}}
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  offload.drop %r : !offload.record<tensor<8xf32>>
  return
}

// -----

func.func @another_element(%x: tensor<8xf32>, %y: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  offload.load %r : !offload.record<tensor<8xf32>>
  // expected-error @below {{gives a record of 'tensor<8xf32>' to a destination of type 'tensor<4x2xf32>'}}
  %z = offload.await %r into %y : !offload.record<tensor<8xf32>>, tensor<4x2xf32> -> tensor<4x2xf32>
  offload.drop %r : !offload.record<tensor<8xf32>>
  return %z : tensor<4x2xf32>
}

// -----

func.func @result_of_memory(%x: tensor<8xf32>, %y: memref<8xf32>) -> tensor<8xf32> {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  offload.load %r : !offload.record<tensor<8xf32>>
  // expected-error @below {{has a result where its destination is a tensor, of the same type}}
  %z = offload.await %r into %y : !offload.record<tensor<8xf32>>, memref<8xf32> -> tensor<8xf32>
  offload.drop %r : !offload.record<tensor<8xf32>>
  return %z : tensor<8xf32>
}
