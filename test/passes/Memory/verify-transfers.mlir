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

// -----

func.func @loaded_after_its_drop(%x: tensor<8xf32>) {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  offload.drop %r : !offload.record<tensor<8xf32>>
  // expected-error @below {{uses a record that has been dropped}}
  offload.load %r : !offload.record<tensor<8xf32>>
  return
}

// -----

func.func @loaded_once_and_awaited_twice(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  offload.load %r : !offload.record<tensor<8xf32>>
  %e = tensor.empty() : tensor<8xf32>
  %y = offload.await %r into %e : !offload.record<tensor<8xf32>>, tensor<8xf32> -> tensor<8xf32>
  // expected-error @below {{awaits a record that no offload.load has asked for since it was stored or awaited}}
  %z = offload.await %r into %e : !offload.record<tensor<8xf32>>, tensor<8xf32> -> tensor<8xf32>
  offload.drop %r : !offload.record<tensor<8xf32>>
  return %y, %z : tensor<8xf32>, tensor<8xf32>
}

// -----

func.func @loaded_again_and_dropped(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  offload.load %r : !offload.record<tensor<8xf32>>
  %e = tensor.empty() : tensor<8xf32>
  %y = offload.await %r into %e : !offload.record<tensor<8xf32>>, tensor<8xf32> -> tensor<8xf32>
  offload.load %r : !offload.record<tensor<8xf32>>
  // expected-error @below {{drops a record that has been loaded and not been awaited since}}
  offload.drop %r : !offload.record<tensor<8xf32>>
  return %y : tensor<8xf32>
}

// -----

func.func @loaded_and_not_dropped(%x: tensor<8xf32>) {
  // expected-error @below {{has a record that is never dropped}}
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  offload.load %r : !offload.record<tensor<8xf32>>
  return
}

// -----

func.func @stored_in_a_loop(%x: tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    // expected-error @below {{stands inside another op}}
    %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
    offload.drop %r : !offload.record<tensor<8xf32>>
  }
  return
}

// -----

func.func @loaded_in_a_loop(%x: tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  scf.for %i = %c0 to %c3 step %c1 {
    // expected-error @below {{stands inside another op}}
    offload.load %r : !offload.record<tensor<8xf32>>
  }
  offload.drop %r : !offload.record<tensor<8xf32>>
  return
}

// -----

func.func @awaited_on_one_path(%x: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  offload.load %r : !offload.record<tensor<8xf32>>
  %z = scf.if %c -> (tensor<8xf32>) {
    %e = tensor.empty() : tensor<8xf32>
    // expected-error @below {{stands inside another op}}
    %y = offload.await %r into %e : !offload.record<tensor<8xf32>>, tensor<8xf32> -> tensor<8xf32>
    scf.yield %y : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  offload.drop %r : !offload.record<tensor<8xf32>>
  return %z : tensor<8xf32>
}

// -----

func.func @dropped_on_two_paths(%x: tensor<8xf32>, %c: i1) {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  scf.if %c {
    offload.drop %r : !offload.record<tensor<8xf32>>
  } else {
    // expected-error @below {{stands inside another op}}
    offload.drop %r : !offload.record<tensor<8xf32>>
  }
  return
}

// -----

func.func @in_one_thread_of_many(%x: tensor<8xf32>) {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  scf.forall (%i) in (3) {
    // expected-error @below {{stands inside another op}}
    offload.load %r : !offload.record<tensor<8xf32>>
  }
  offload.drop %r : !offload.record<tensor<8xf32>>
  return
}

// -----

func.func @yielded_by_a_branch(%x: tensor<8xf32>, %c: i1) {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  %t = scf.if %c -> (!offload.record<tensor<8xf32>>) {
    scf.yield %r : !offload.record<tensor<8xf32>>
  } else {
    // expected-error @below {{uses a record, which only offload.load, offload.await and offload.drop may}}
    scf.yield %r : !offload.record<tensor<8xf32>>
  }
  return
}

// -----

func.func @carried_by_a_loop(%x: tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  // expected-error @below {{uses a record, which only offload.load, offload.await and offload.drop may}}
  %t = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %r) -> (!offload.record<tensor<8xf32>>) {
    scf.yield %s : !offload.record<tensor<8xf32>>
  }
  return
}

// -----

func.func @selected(%x: tensor<8xf32>, %c: i1) {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  // expected-error @below {{uses a record, which only offload.load, offload.await and offload.drop may}}
  %t = arith.select %c, %r, %r : !offload.record<tensor<8xf32>>
  return
}

// -----

func.func @cast(%x: tensor<8xf32>) {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  // expected-error @below {{uses a record, which only offload.load, offload.await and offload.drop may}}
  %t = builtin.unrealized_conversion_cast %r : !offload.record<tensor<8xf32>> to !offload.record<tensor<8xf32>>
  return
}

// -----

func.func private @other(!offload.record<tensor<8xf32>>)
func.func @given_to_a_call(%x: tensor<8xf32>) {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  // expected-error @below {{uses a record, which only offload.load, offload.await and offload.drop may}}
  call @other(%r) : (!offload.record<tensor<8xf32>>) -> ()
  offload.drop %r : !offload.record<tensor<8xf32>>
  return
}

// -----

func.func private @other() -> !offload.record<tensor<8xf32>>
func.func @of_a_call() {
  %r = call @other() : () -> !offload.record<tensor<8xf32>>
  // expected-error @below {{has a record that no offload.store of this function has made}}
  offload.drop %r : !offload.record<tensor<8xf32>>
  return
}

// -----

func.func @given_to_a_block(%x: tensor<8xf32>, %c: i1) {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  // expected-error @below {{uses a record, which only offload.load, offload.await and offload.drop may}}
  cf.br ^next(%r : !offload.record<tensor<8xf32>>)
^next(%s: !offload.record<tensor<8xf32>>):
  return
}

// -----

func.func @dropped_in_another_block(%x: tensor<8xf32>, %c: i1) {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  cf.cond_br %c, ^left, ^right
^left:
  // expected-error @below {{stands in another block than the offload.store of its record}}
  offload.drop %r : !offload.record<tensor<8xf32>>
  return
^right:
  return
}

// -----

func.func @awaited_in_another_block(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  offload.load %r : !offload.record<tensor<8xf32>>
  %e = tensor.empty() : tensor<8xf32>
  cf.br ^next
^next:
  // expected-error @below {{stands in another block than the offload.store of its record}}
  %y = offload.await %r into %e : !offload.record<tensor<8xf32>>, tensor<8xf32> -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func @dropped_for_each_element(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<8xf32>) {
  ^bb0(%o: f32):
    // expected-error @below {{stands inside another op}}
    offload.drop %r : !offload.record<tensor<8xf32>>
    linalg.yield %o : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}
