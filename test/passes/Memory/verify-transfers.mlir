// RUN: drawloom-opt %s --verify-transfers --split-input-file --verify-diagnostics

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @right(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  offload.load %r : !offload.record<tensor<8xf32>>
  %e = tensor.empty() : tensor<8xf32>
  %y = offload.await %r into %e : !offload.record<tensor<8xf32>>, tensor<8xf32> -> tensor<8xf32>
  offload.load %r : !offload.record<tensor<8xf32>>
  %z = offload.await %r into %e : !offload.record<tensor<8xf32>>, tensor<8xf32> -> tensor<8xf32>
  offload.drop %r : !offload.record<tensor<8xf32>>
  return %y, %z : tensor<8xf32>, tensor<8xf32>
}

// -----

func.func @inside(%x: tensor<8xf32>, %c: i1) {
  scf.if %c {
    // expected-error @below {{stands inside another op; transfers are between the steps of a function's body}}
    %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
    offload.drop %r : !offload.record<tensor<8xf32>>
  }
  return
}

// -----

func.func @dropped_inside(%x: tensor<8xf32>, %c: i1) {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  scf.if %c {
    // expected-error @below {{stands inside another op}}
    offload.drop %r : !offload.record<tensor<8xf32>>
  }
  return
}

// -----

func.func @returned(%x: tensor<8xf32>) -> !offload.record<tensor<8xf32>> {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  // expected-error @below {{uses a record, which only offload.load, offload.await and offload.drop may}}
  return %r : !offload.record<tensor<8xf32>>
}

// -----

func.func @given(%r: !offload.record<tensor<8xf32>>) {
  // expected-error @below {{has a record that no offload.store of this function has made}}
  offload.drop %r : !offload.record<tensor<8xf32>>
  return
}

// -----

func.func @never_dropped(%x: tensor<8xf32>) {
  // expected-error @below {{has a record that is never dropped: its place in the store would be taken to the end}}
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  return
}

// -----

func.func @dropped_twice(%x: tensor<8xf32>) {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  offload.drop %r : !offload.record<tensor<8xf32>>
  // expected-error @below {{uses a record that has been dropped}}
  offload.drop %r : !offload.record<tensor<8xf32>>
  return
}

// -----

func.func @awaited_after(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  offload.load %r : !offload.record<tensor<8xf32>>
  %e = tensor.empty() : tensor<8xf32>
  %y = offload.await %r into %e : !offload.record<tensor<8xf32>>, tensor<8xf32> -> tensor<8xf32>
  offload.drop %r : !offload.record<tensor<8xf32>>
  // expected-error @below {{uses a record that has been dropped}}
  %z = offload.await %r into %e : !offload.record<tensor<8xf32>>, tensor<8xf32> -> tensor<8xf32>
  return %z : tensor<8xf32>
}

// -----

func.func @loaded_twice(%x: tensor<8xf32>) {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  offload.load %r : !offload.record<tensor<8xf32>>
  // expected-error @below {{loads a record that has been loaded and not been awaited since}}
  offload.load %r : !offload.record<tensor<8xf32>>
  offload.drop %r : !offload.record<tensor<8xf32>>
  return
}

// -----

func.func @not_loaded(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  %e = tensor.empty() : tensor<8xf32>
  // expected-error @below {{awaits a record that no offload.load has asked for since it was stored or awaited}}
  %y = offload.await %r into %e : !offload.record<tensor<8xf32>>, tensor<8xf32> -> tensor<8xf32>
  offload.drop %r : !offload.record<tensor<8xf32>>
  return %y : tensor<8xf32>
}

// -----

func.func @not_awaited(%x: tensor<8xf32>) {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  offload.load %r : !offload.record<tensor<8xf32>>
  // expected-error @below {{drops a record that has been loaded and not been awaited since}}
  offload.drop %r : !offload.record<tensor<8xf32>>
  return
}
