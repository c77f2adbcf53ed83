// RUN: drawloom-run %s --entry=for --random --compare=interpreter
// RUN: drawloom-run %s --entry=exchange --random --compare=interpreter
// RUN: drawloom-run %s --entry=power --random --compare=interpreter
// RUN: drawloom-run %s --entry=nested --random --compare=interpreter
// RUN: drawloom-run %s --entry=read_later --random --compare=interpreter
// RUN: drawloom-run %s --entry=gradient_of_both_from_one --random --compare=interpreter
// RUN: drawloom-run %s --entry=saves --random --compare=interpreter
// RUN: drawloom-run %s --entry=sometimes --random --seed=1 --compare=interpreter
// RUN: drawloom-run %s --entry=sometimes --random --seed=2 --compare=interpreter
// RUN: drawloom-run %s --entry=sometimes_from_outside --random --seed=1 --compare=interpreter
// RUN: drawloom-run %s --entry=sometimes_from_outside --random --seed=2 --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @for(%a: tensor<65x4xf32>) -> tensor<65x4xf32> {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %a) -> (tensor<65x4xf32>) {
    %n = arith.addf %s, %a : tensor<65x4xf32>
    scf.yield %n : tensor<65x4xf32>
  }
  return %r : tensor<65x4xf32>
}

// Each is stored where the other one lies.
func.func @exchange(%a: tensor<5xf32>, %b: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c1 = arith.constant 1 : index
  %e = math.exp %a : tensor<5xf32>
  %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %e, %t = %b) -> (tensor<5xf32>, tensor<5xf32>) {
    %n = arith.addf %s, %t : tensor<5xf32>
    scf.yield %t, %n : tensor<5xf32>, tensor<5xf32>
  }
  return %r#0, %r#1, %e : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}

func.func @power(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %a) -> (tensor<4x4xf32>) {
    %n = linalg.matmul ins(%s, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %n : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

func.func @nested(%a: tensor<7x3xf32>, %b: tensor<7x3xf32>) -> tensor<7x3xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %a) -> (tensor<7x3xf32>) {
    %q = scf.for %j = %c0 to %c3 step %c1 iter_args(%t = %s) -> (tensor<7x3xf32>) {
      %n = math.tanh %t : tensor<7x3xf32>
      %m = arith.mulf %n, %s : tensor<7x3xf32>
      scf.yield %m : tensor<7x3xf32>
    }
    %o = arith.subf %q, %b : tensor<7x3xf32>
    scf.yield %o : tensor<7x3xf32>
  }
  return %r : tensor<7x3xf32>
}

// What the loop starts from is read behind it.
func.func @read_later(%a: tensor<8x17xf32>) -> (tensor<8x17xf32>, tensor<8x17xf32>) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c1 = arith.constant 1 : index
  %e = math.exp %a : tensor<8x17xf32>
  %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %e, %u = %a) -> (tensor<8x17xf32>, tensor<8x17xf32>) {
    %t = math.tanh %s : tensor<8x17xf32>
    %v = arith.addf %u, %s : tensor<8x17xf32>
    scf.yield %t, %v : tensor<8x17xf32>, tensor<8x17xf32>
  }
  %o = arith.mulf %r#0, %e : tensor<8x17xf32>
  %p = arith.mulf %r#1, %a : tensor<8x17xf32>
  return %o, %p : tensor<8x17xf32>, tensor<8x17xf32>
}

// Both values that the outer loop carries come from the inner one, which does
// not use what it carries.
func.func @both_from_one(%a: tensor<5x7xf32>, %b: tensor<5x5x7xf32>, %x: tensor<5x5xf32>, %y: tensor<5x5xf32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %p = linalg.batch_matvec ins(%b, %a : tensor<5x5x7xf32>, tensor<5x7xf32>) outs(%x : tensor<5x5xf32>) -> tensor<5x5xf32>
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %y, %t = %x) -> (tensor<5x5xf32>, tensor<5x5xf32>) {
    %n = scf.for %j = %c0 to %c3 step %c1 iter_args(%u = %s) -> (tensor<5x5xf32>) {
      scf.yield %p : tensor<5x5xf32>
    }
    scf.yield %n, %n : tensor<5x5xf32>, tensor<5x5xf32>
  }
  %l = loss.mse %r#0, %y : tensor<5x5xf32> -> tensor<f32>
  return %l : tensor<f32>
}
func.func @gradient_of_both_from_one(%a: tensor<5x7xf32>, %b: tensor<5x5x7xf32>, %x: tensor<5x5xf32>, %y: tensor<5x5xf32>) -> (tensor<f32>, tensor<5x5x7xf32>) {
  %l, %g = ad.value_and_grad @both_from_one(%a, %b, %x, %y) wrt [1]
    : (tensor<5x7xf32>, tensor<5x5x7xf32>, tensor<5x5xf32>, tensor<5x5xf32>) -> (tensor<f32>, tensor<5x5x7xf32>)
  return %l, %g : tensor<f32>, tensor<5x5x7xf32>
}

// The inner loop changes what is saved behind it, so it starts from a copy,
// which the outer one carries on.
func.func @saves(%a: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<4x2x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<4x2x2xf32>
  %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %a, %t = %e) -> (tensor<2x2xf32>, tensor<4x2x2xf32>) {
    %q = scf.for %j = %c0 to %c2 step %c1 iter_args(%u = %s) -> (tensor<2x2xf32>) {
      %n = tensor.extract %u[%j, %c0] : tensor<2x2xf32>
      %h = math.tanh %n : f32
      %v = tensor.insert %h into %u[%j, %c1] : tensor<2x2xf32>
      scf.yield %v : tensor<2x2xf32>
    }
    %w = tensor.insert_slice %s into %t[%i, 0, 0] [1, 2, 2] [1, 1, 1] : tensor<2x2xf32> into tensor<4x2x2xf32>
    scf.yield %q, %w : tensor<2x2xf32>, tensor<4x2x2xf32>
  }
  return %r#0, %r#1 : tensor<2x2xf32>, tensor<4x2x2xf32>
}

// What is carried on lies where it has to be in one branch only.
func.func @sometimes(%a: tensor<5xf32>, %b: tensor<5xf32>, %c: tensor<i1>) -> tensor<5xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %take = tensor.extract %c[] : tensor<i1>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %a) -> (tensor<5xf32>) {
    %q = scf.for %j = %c0 to %c3 step %c1 iter_args(%t = %s) -> (tensor<5xf32>) {
      %n = math.tanh %t : tensor<5xf32>
      scf.yield %n : tensor<5xf32>
    }
    %m = scf.if %take -> (tensor<5xf32>) {
      scf.yield %q : tensor<5xf32>
    } else {
      %n = math.exp %b : tensor<5xf32>
      scf.yield %n : tensor<5xf32>
    }
    scf.yield %m : tensor<5xf32>
  }
  return %r : tensor<5xf32>
}

// What is read, before what is carried is replaced, lies in that or outside.
func.func @sometimes_from_outside(%a: tensor<6x4xf32>, %b: tensor<1x3xf32>, %d: tensor<6x4xf32>, %c: tensor<i1>)
    -> (tensor<1x3xf32>, tensor<6x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %take = tensor.extract %c[] : tensor<i1>
  %r:3 = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %a, %t = %b, %u = %d)
      -> (tensor<6x4xf32>, tensor<1x3xf32>, tensor<6x4xf32>) {
    %part = scf.if %take -> (tensor<1x3xf32>) {
      %p = tensor.extract_slice %s[2, 1] [1, 3] [1, 1] : tensor<6x4xf32> to tensor<1x3xf32>
      scf.yield %p : tensor<1x3xf32>
    } else {
      scf.yield %b : tensor<1x3xf32>
    }
    %whole = scf.if %take -> (tensor<6x4xf32>) {
      scf.yield %s : tensor<6x4xf32>
    } else {
      scf.yield %d : tensor<6x4xf32>
    }
    %n = math.tanh %d : tensor<6x4xf32>
    %v = arith.addf %t, %part : tensor<1x3xf32>
    %w = arith.addf %u, %whole : tensor<6x4xf32>
    scf.yield %n, %v, %w : tensor<6x4xf32>, tensor<1x3xf32>, tensor<6x4xf32>
  }
  return %r#1, %r#2 : tensor<1x3xf32>, tensor<6x4xf32>
}
