// Part of the Drawloom project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-promote-scratch=limit=1024 --verify-semantics | FileCheck %s

// What one loop fills and another reads is a part of a result of the program.
// CHECK-LABEL: func.func @filled_and_read
// CHECK: %[[ALL:.*]] = tensor.empty() : tensor<4x10x8x8xf32>
// CHECK: scf.forall (%[[BLOCK:.*]]) in (4) shared_outs(%[[OUT:.*]] = %{{.*}}, %[[ARRAYS:.*]] = %[[ALL]])
// CHECK: %[[OWN:.*]] = tensor.extract_slice %[[ARRAYS]][%[[BLOCK]], 0, 0, 0] [1, 10, 8, 8]
// CHECK: %[[FILLED:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[OWN]])
// CHECK: tensor.parallel_insert_slice %[[FILLED]] into %[[ARRAYS]][%[[BLOCK]], 0, 0, 0] [1, 10, 8, 8]
func.func @filled_and_read(%x: tensor<4x8x8xf32>) -> tensor<4x8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %empty = tensor.empty() : tensor<4x8x8xf32>
  %r = scf.forall (%block) in (4) shared_outs(%out = %empty) -> (tensor<4x8x8xf32>) {
    %tile = tensor.extract_slice %x[%block, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<4x8x8xf32> to tensor<8x8xf32>
    %array = tensor.empty() : tensor<10x8x8xf32>
    %filled = scf.for %i = %c0 to %c10 step %c1 iter_args(%a = %array) -> (tensor<10x8x8xf32>) {
      %next = tensor.insert_slice %tile into %a[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<10x8x8xf32>
      scf.yield %next : tensor<10x8x8xf32>
    }
    %own = tensor.extract_slice %out[%block, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<4x8x8xf32> to tensor<8x8xf32>
    %sum = scf.for %i = %c0 to %c10 step %c1 iter_args(%s = %own) -> (tensor<8x8xf32>) {
      %one = tensor.extract_slice %filled[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<10x8x8xf32> to tensor<8x8xf32>
      %next = linalg.add ins(%one, %tile : tensor<8x8xf32>, tensor<8x8xf32>) outs(%s : tensor<8x8xf32>) -> tensor<8x8xf32>
      scf.yield %next : tensor<8x8xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %out[%block, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<4x8x8xf32>
    }
  }
  return %r : tensor<4x8x8xf32>
}

// A small array stays, and so does one that is read whole.
// CHECK-LABEL: func.func @kept
// CHECK: scf.forall (%{{.*}}) in (4) shared_outs(%{{.*}} = %{{[^,]*}}) ->
func.func @kept(%x: tensor<4x8x8xf32>) -> tensor<4x10x8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %empty = tensor.empty() : tensor<4x10x8x8xf32>
  %r = scf.forall (%block) in (4) shared_outs(%out = %empty) -> (tensor<4x10x8x8xf32>) {
    %tile = tensor.extract_slice %x[%block, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<4x8x8xf32> to tensor<8x8xf32>
    %small = tensor.empty() : tensor<3x8x8xf32>
    %few = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %small) -> (tensor<3x8x8xf32>) {
      %next = tensor.insert_slice %tile into %a[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<3x8x8xf32>
      scf.yield %next : tensor<3x8x8xf32>
    }
    %first = tensor.extract_slice %few[0, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<3x8x8xf32> to tensor<8x8xf32>
    %array = tensor.empty() : tensor<10x8x8xf32>
    %begun = tensor.insert_slice %first into %array[0, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<10x8x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %begun into %out[%block, 0, 0, 0] [1, 10, 8, 8] [1, 1, 1, 1] : tensor<10x8x8xf32> into tensor<4x10x8x8xf32>
    }
  }
  return %r : tensor<4x10x8x8xf32>
}

// Two arrays that begin with the same op are two results.
// CHECK-LABEL: func.func @of_one_shape
// CHECK: scf.forall {{.*}} shared_outs(%{{.*}} = %{{.*}}, %[[FIRST:.*]] = %{{.*}}, %[[SECOND:.*]] = %{{.*}})
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[FIRST]][
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[SECOND]][
func.func @of_one_shape(%x: tensor<4x8x8xf32>) -> tensor<4x8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %empty = tensor.empty() : tensor<4x8x8xf32>
  %r = scf.forall (%block) in (4) shared_outs(%out = %empty) -> (tensor<4x8x8xf32>) {
    %tile = tensor.extract_slice %x[%block, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<4x8x8xf32> to tensor<8x8xf32>
    %array = tensor.empty() : tensor<10x8x8xf32>
    %filled:2 = scf.for %i = %c0 to %c10 step %c1 iter_args(%a = %array, %b = %array) -> (tensor<10x8x8xf32>, tensor<10x8x8xf32>) {
      %next = tensor.insert_slice %tile into %a[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<10x8x8xf32>
      %other = tensor.insert_slice %tile into %b[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<10x8x8xf32>
      scf.yield %next, %other : tensor<10x8x8xf32>, tensor<10x8x8xf32>
    }
    %own = tensor.extract_slice %out[%block, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<4x8x8xf32> to tensor<8x8xf32>
    %sum = scf.for %i = %c0 to %c10 step %c1 iter_args(%s = %own) -> (tensor<8x8xf32>) {
      %one = tensor.extract_slice %filled#0[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<10x8x8xf32> to tensor<8x8xf32>
      %two = tensor.extract_slice %filled#1[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<10x8x8xf32> to tensor<8x8xf32>
      %next = linalg.add ins(%one, %two : tensor<8x8xf32>, tensor<8x8xf32>) outs(%s : tensor<8x8xf32>) -> tensor<8x8xf32>
      scf.yield %next : tensor<8x8xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %out[%block, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<4x8x8xf32>
    }
  }
  return %r : tensor<4x8x8xf32>
}

// Loops and branches around an array carry it.
// CHECK-LABEL: func.func @in_a_branch
// CHECK: scf.forall {{.*}} shared_outs(%{{.*}} = %{{.*}}, %[[ALL:.*]] = %{{.*}})
// CHECK: %[[OWN:.*]] = tensor.extract_slice %[[ALL]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[CARRIED:.*]] = %[[OWN]])
// CHECK: %[[IF:.*]]:2 = scf.if
// CHECK: %[[FILLED:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[CARRIED]])
// CHECK: scf.yield %{{.*}}, %[[FILLED]]
// CHECK: } else {
// CHECK: scf.yield %{{.*}}, %[[CARRIED]]
// CHECK: scf.yield %[[IF]]#0, %[[IF]]#1
func.func @in_a_branch(%x: tensor<4x8x8xf32>, %condition: i1) -> tensor<4x8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %empty = tensor.empty() : tensor<4x8x8xf32>
  %r = scf.forall (%block) in (4) shared_outs(%out = %empty) -> (tensor<4x8x8xf32>) {
    %tile = tensor.extract_slice %x[%block, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<4x8x8xf32> to tensor<8x8xf32>
    %own = tensor.extract_slice %out[%block, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<4x8x8xf32> to tensor<8x8xf32>
    %sum = scf.for %chunk = %c0 to %c10 step %c1 iter_args(%s = %own) -> (tensor<8x8xf32>) {
      %either = scf.if %condition -> (tensor<8x8xf32>) {
        %array = tensor.empty() : tensor<10x8x8xf32>
        %filled = scf.for %i = %c0 to %c10 step %c1 iter_args(%a = %array) -> (tensor<10x8x8xf32>) {
          %next = tensor.insert_slice %tile into %a[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<10x8x8xf32>
          scf.yield %next : tensor<10x8x8xf32>
        }
        %one = tensor.extract_slice %filled[%chunk, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<10x8x8xf32> to tensor<8x8xf32>
        %next = linalg.add ins(%one, %tile : tensor<8x8xf32>, tensor<8x8xf32>) outs(%s : tensor<8x8xf32>) -> tensor<8x8xf32>
        scf.yield %next : tensor<8x8xf32>
      } else {
        scf.yield %s : tensor<8x8xf32>
      }
      scf.yield %either : tensor<8x8xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %out[%block, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<4x8x8xf32>
    }
  }
  return %r : tensor<4x8x8xf32>
}

// A program that is one block becomes a loop over one.
// CHECK-LABEL: func.func @one_block
// CHECK: scf.forall (%{{.*}}) in (1) shared_outs(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
func.func @one_block(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %array = tensor.empty() : tensor<10x8x8xf32>
  %filled = scf.for %i = %c0 to %c10 step %c1 iter_args(%a = %array) -> (tensor<10x8x8xf32>) {
    %next = tensor.insert_slice %x into %a[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<10x8x8xf32>
    scf.yield %next : tensor<10x8x8xf32>
  }
  %sum = scf.for %i = %c0 to %c10 step %c1 iter_args(%s = %x) -> (tensor<8x8xf32>) {
    %one = tensor.extract_slice %filled[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<10x8x8xf32> to tensor<8x8xf32>
    %next = linalg.add ins(%one, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%s : tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %next : tensor<8x8xf32>
  }
  return %sum : tensor<8x8xf32>
}

// What it gives is made where it goes to, not in shared memory.
// CHECK-LABEL: func.func @result_of_one_block
// CHECK: scf.forall (%{{.*}}) in (1) shared_outs(%[[OUT:.*]] = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK: %[[BEGIN:.*]] = tensor.extract_slice %[[OUT]][0, 0, 0, 0] [1, 1000, 1, 8]
// CHECK: %[[ROWS:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[BEGIN]])
// CHECK: tensor.parallel_insert_slice %[[ROWS]] into %[[OUT]][0, 0, 0, 0] [1, 1000, 1, 8]
func.func @result_of_one_block(%x: tensor<8x8xf32>) -> tensor<1x1000x1x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %c1000 = arith.constant 1000 : index
  %array = tensor.empty() : tensor<10x8x8xf32>
  %filled = scf.for %i = %c0 to %c10 step %c1 iter_args(%a = %array) -> (tensor<10x8x8xf32>) {
    %next = tensor.insert_slice %x into %a[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<10x8x8xf32>
    scf.yield %next : tensor<10x8x8xf32>
  }
  %result = tensor.empty() : tensor<1x1000x1x8xf32>
  %begin = tensor.extract_slice %result[0, 0, 0, 0] [1, 1000, 1, 8] [1, 1, 1, 1] : tensor<1x1000x1x8xf32> to tensor<1000x8xf32>
  %rows = scf.for %i = %c0 to %c1000 step %c1 iter_args(%r = %begin) -> (tensor<1000x8xf32>) {
    %n = arith.remui %i, %c10 : index
    %row = tensor.extract_slice %filled[%n, 0, 0] [1, 1, 8] [1, 1, 1] : tensor<10x8x8xf32> to tensor<1x8xf32>
    %next = tensor.insert_slice %row into %r[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<1000x8xf32>
    scf.yield %next : tensor<1000x8xf32>
  }
  %all = tensor.insert_slice %rows into %result[0, 0, 0, 0] [1, 1000, 1, 8] [1, 1, 1, 1] : tensor<1000x8xf32> into tensor<1x1000x1x8xf32>
  return %all : tensor<1x1000x1x8xf32>
}

// Two arrays of one shape begin with one op, one of them within a loop.
// CHECK-LABEL: func.func @shared_beginning
// CHECK: scf.forall (%{{.*}}) in (4) shared_outs(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
func.func @shared_beginning(%x: tensor<8x8xf32>) -> tensor<4x8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %empty = tensor.empty() : tensor<4x8x8xf32>
  %r = scf.forall (%block) in (4) shared_outs(%out = %empty) -> (tensor<4x8x8xf32>) {
    %array = tensor.empty() : tensor<10x8x8xf32>
    %outer = scf.for %i = %c0 to %c10 step %c1 iter_args(%a = %array) -> (tensor<10x8x8xf32>) {
      %next = tensor.insert_slice %x into %a[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<10x8x8xf32>
      scf.yield %next : tensor<10x8x8xf32>
    }
    %sum = scf.for %i = %c0 to %c10 step %c1 iter_args(%s = %x) -> (tensor<8x8xf32>) {
      %inner = scf.for %j = %c0 to %c10 step %c1 iter_args(%a = %array) -> (tensor<10x8x8xf32>) {
        %tile = tensor.extract_slice %outer[%j, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<10x8x8xf32> to tensor<8x8xf32>
        %next = tensor.insert_slice %tile into %a[%j, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<10x8x8xf32>
        scf.yield %next : tensor<10x8x8xf32>
      }
      %one = tensor.extract_slice %inner[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<10x8x8xf32> to tensor<8x8xf32>
      %next = linalg.add ins(%one, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%s : tensor<8x8xf32>) -> tensor<8x8xf32>
      scf.yield %next : tensor<8x8xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %out[%block, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<4x8x8xf32>
    }
  }
  return %r : tensor<4x8x8xf32>
}
