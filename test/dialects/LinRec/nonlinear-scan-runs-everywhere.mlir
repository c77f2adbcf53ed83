// RUN: drawloom-run %s --entry=values --random --compare=interpreter | FileCheck %s
// RUN: drawloom-run %s --entry=values --random --compare=interpreter --isa=baseline | FileCheck %s
// RUN: drawloom-run %s --entry=values --random --compare=interpreter --target=emulator | FileCheck %s
// RUN: drawloom-run %s --entry=train --random --compare=interpreter | FileCheck %s
// RUN: drawloom-run %s --entry=train --random --compare=interpreter --isa=baseline | FileCheck %s
// RUN: drawloom-run %s --entry=train --random --compare=interpreter --target=emulator | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK: passed
// CHECK-NOT: failed
func.func @values(%h0: tensor<2x72xf32>, %xz: tensor<2x5x72xf32>, %xr: tensor<2x5x72xf32>, %xc: tensor<2x5x72xf32>, %wz: tensor<72xf32>, %wr: tensor<72xf32>, %wc: tensor<72xf32>) -> (tensor<2x5x72xf32>, tensor<2x72xf32>) {
  %y, %final = linrec.nonlinear_scan initial(%h0 : tensor<2x72xf32>) inputs(%xz, %xr, %xc : tensor<2x5x72xf32>, tensor<2x5x72xf32>, tensor<2x5x72xf32>)
      parameters(%wz, %wr, %wc : tensor<72xf32>, tensor<72xf32>, tensor<72xf32>) outputs(tensor<2x5x72xf32>) finals(tensor<2x72xf32>) {
  ^bb0(%h: f32, %az: f32, %ar: f32, %ac: f32, %uz: f32, %ur: f32, %uc: f32):
    %one = arith.constant 1.0 : f32
    %za = math.fma %uz, %h, %az : f32
    %zn = arith.negf %za : f32
    %ze = math.exp %zn : f32
    %zp = arith.addf %ze, %one : f32
    %z = arith.divf %one, %zp : f32
    %ra = math.fma %ur, %h, %ar : f32
    %rn = arith.negf %ra : f32
    %re = math.exp %rn : f32
    %rp = arith.addf %re, %one : f32
    %r = arith.divf %one, %rp : f32
    %rh = arith.mulf %r, %h : f32
    %ca = math.fma %uc, %rh, %ac : f32
    %c = math.tanh %ca : f32
    %d = arith.subf %c, %h : f32
    %n = math.fma %z, %d, %h : f32
    linrec.yield %n, %n : f32, f32
  }
  return %y, %final : tensor<2x5x72xf32>, tensor<2x72xf32>
}

func.func private @cell(%h0: tensor<2x72xf32>, %xz: tensor<2x5x72xf32>, %xr: tensor<2x5x72xf32>, %xc: tensor<2x5x72xf32>, %wz: tensor<72xf32>, %wr: tensor<72xf32>, %wc: tensor<72xf32>) -> (tensor<2x5x72xf32>, tensor<2x72xf32>) {
  %y, %final = linrec.nonlinear_scan initial(%h0 : tensor<2x72xf32>) inputs(%xz, %xr, %xc : tensor<2x5x72xf32>, tensor<2x5x72xf32>, tensor<2x5x72xf32>)
      parameters(%wz, %wr, %wc : tensor<72xf32>, tensor<72xf32>, tensor<72xf32>) outputs(tensor<2x5x72xf32>) finals(tensor<2x72xf32>) {
  ^bb0(%h: f32, %az: f32, %ar: f32, %ac: f32, %uz: f32, %ur: f32, %uc: f32):
    %one = arith.constant 1.0 : f32
    %za = math.fma %uz, %h, %az : f32
    %zn = arith.negf %za : f32
    %ze = math.exp %zn : f32
    %zp = arith.addf %ze, %one : f32
    %z = arith.divf %one, %zp : f32
    %ra = math.fma %ur, %h, %ar : f32
    %rn = arith.negf %ra : f32
    %re = math.exp %rn : f32
    %rp = arith.addf %re, %one : f32
    %r = arith.divf %one, %rp : f32
    %rh = arith.mulf %r, %h : f32
    %ca = math.fma %uc, %rh, %ac : f32
    %c = math.tanh %ca : f32
    %d = arith.subf %c, %h : f32
    %n = math.fma %z, %d, %h : f32
    linrec.yield %n, %n : f32, f32
  }
  return %y, %final : tensor<2x5x72xf32>, tensor<2x72xf32>
}
func.func @train(%h0: tensor<2x72xf32>, %xz: tensor<2x5x72xf32>, %xr: tensor<2x5x72xf32>, %xc: tensor<2x5x72xf32>, %wz: tensor<72xf32>, %wr: tensor<72xf32>, %wc: tensor<72xf32>, %g: tensor<2x5x72xf32>, %gf: tensor<2x72xf32>) -> (tensor<2x5x72xf32>, tensor<2x72xf32>, tensor<2x72xf32>, tensor<2x5x72xf32>, tensor<2x5x72xf32>, tensor<2x5x72xf32>, tensor<72xf32>, tensor<72xf32>, tensor<72xf32>) {
  %r:9 = ad.vjp @cell(%h0, %xz, %xr, %xc, %wz, %wr, %wc) cotangents(%g, %gf) wrt [0, 1, 2, 3, 4, 5, 6] : (tensor<2x72xf32>, tensor<2x5x72xf32>, tensor<2x5x72xf32>, tensor<2x5x72xf32>, tensor<72xf32>, tensor<72xf32>, tensor<72xf32>) -> (tensor<2x5x72xf32>, tensor<2x72xf32>, tensor<2x72xf32>, tensor<2x5x72xf32>, tensor<2x5x72xf32>, tensor<2x5x72xf32>, tensor<72xf32>, tensor<72xf32>, tensor<72xf32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8 : tensor<2x5x72xf32>, tensor<2x72xf32>, tensor<2x72xf32>, tensor<2x5x72xf32>, tensor<2x5x72xf32>, tensor<2x5x72xf32>, tensor<72xf32>, tensor<72xf32>, tensor<72xf32>
}
