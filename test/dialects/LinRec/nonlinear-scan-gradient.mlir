// RUN: drawloom-opt %s --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @gru(%h0: tensor<2x3xf64>, %xz: tensor<2x4x3xf64>, %xr: tensor<2x4x3xf64>, %xc: tensor<2x4x3xf64>, %wz: tensor<3xf64>, %wr: tensor<3xf64>, %wc: tensor<3xf64>) -> (tensor<2x4x3xf64>, tensor<2x3xf64>) {
  %y, %final = linrec.nonlinear_scan initial(%h0 : tensor<2x3xf64>) inputs(%xz, %xr, %xc : tensor<2x4x3xf64>, tensor<2x4x3xf64>, tensor<2x4x3xf64>)
      parameters(%wz, %wr, %wc : tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) outputs(tensor<2x4x3xf64>) finals(tensor<2x3xf64>) {
  ^bb0(%h: f64, %az: f64, %ar: f64, %ac: f64, %uz: f64, %ur: f64, %uc: f64):
    %one = arith.constant 1.0 : f64
    %za = math.fma %uz, %h, %az : f64
    %zn = arith.negf %za : f64
    %ze = math.exp %zn : f64
    %zp = arith.addf %ze, %one : f64
    %z = arith.divf %one, %zp : f64
    %ra = math.fma %ur, %h, %ar : f64
    %rn = arith.negf %ra : f64
    %re = math.exp %rn : f64
    %rp = arith.addf %re, %one : f64
    %r = arith.divf %one, %rp : f64
    %rh = arith.mulf %r, %h : f64
    %ca = math.fma %uc, %rh, %ac : f64
    %c = math.tanh %ca : f64
    %d = arith.subf %c, %h : f64
    %n = math.fma %z, %d, %h : f64
    linrec.yield %n, %n : f64, f64
  }
  return %y, %final : tensor<2x4x3xf64>, tensor<2x3xf64>
}

func.func private @backward(%h0: tensor<1x2xf64>, %xz: tensor<1x3x2xf64>, %xr: tensor<1x3x2xf64>, %xc: tensor<1x3x2xf64>, %wz: tensor<2xf64>, %wr: tensor<2xf64>, %wc: tensor<2xf64>) -> (tensor<1x3x2xf64>, tensor<1x2xf64>) {
  %y, %final = linrec.nonlinear_scan reverse initial(%h0 : tensor<1x2xf64>) inputs(%xz, %xr, %xc : tensor<1x3x2xf64>, tensor<1x3x2xf64>, tensor<1x3x2xf64>)
      parameters(%wz, %wr, %wc : tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) outputs(tensor<1x3x2xf64>) finals(tensor<1x2xf64>) {
  ^bb0(%h: f64, %az: f64, %ar: f64, %ac: f64, %uz: f64, %ur: f64, %uc: f64):
    %one = arith.constant 1.0 : f64
    %za = math.fma %uz, %h, %az : f64
    %zn = arith.negf %za : f64
    %ze = math.exp %zn : f64
    %zp = arith.addf %ze, %one : f64
    %z = arith.divf %one, %zp : f64
    %ra = math.fma %ur, %h, %ar : f64
    %rn = arith.negf %ra : f64
    %re = math.exp %rn : f64
    %rp = arith.addf %re, %one : f64
    %r = arith.divf %one, %rp : f64
    %rh = arith.mulf %r, %h : f64
    %ca = math.fma %uc, %rh, %ac : f64
    %c = math.tanh %ca : f64
    %d = arith.subf %c, %h : f64
    %n = math.fma %z, %d, %h : f64
    linrec.yield %n, %n : f64, f64
  }
  return %y, %final : tensor<1x3x2xf64>, tensor<1x2xf64>
}

func.func private @last(%h0: tensor<1x2xf64>, %xz: tensor<1x3x2xf64>, %xr: tensor<1x3x2xf64>, %xc: tensor<1x3x2xf64>, %wz: tensor<2xf64>, %wr: tensor<2xf64>, %wc: tensor<2xf64>) -> tensor<1x2xf64> {
  %final = linrec.nonlinear_scan initial(%h0 : tensor<1x2xf64>) inputs(%xz, %xr, %xc : tensor<1x3x2xf64>, tensor<1x3x2xf64>, tensor<1x3x2xf64>)
      parameters(%wz, %wr, %wc : tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) finals(tensor<1x2xf64>) {
  ^bb0(%h: f64, %az: f64, %ar: f64, %ac: f64, %uz: f64, %ur: f64, %uc: f64):
    %one = arith.constant 1.0 : f64
    %za = math.fma %uz, %h, %az : f64
    %zn = arith.negf %za : f64
    %ze = math.exp %zn : f64
    %zp = arith.addf %ze, %one : f64
    %z = arith.divf %one, %zp : f64
    %ra = math.fma %ur, %h, %ar : f64
    %rn = arith.negf %ra : f64
    %re = math.exp %rn : f64
    %rp = arith.addf %re, %one : f64
    %r = arith.divf %one, %rp : f64
    %rh = arith.mulf %r, %h : f64
    %ca = math.fma %uc, %rh, %ac : f64
    %c = math.tanh %ca : f64
    %d = arith.subf %c, %h : f64
    %n = math.fma %z, %d, %h : f64
    linrec.yield %n : f64
  }
  return %final : tensor<1x2xf64>
}

func.func private @one_token(%h0: tensor<2x3xf64>, %xz: tensor<2x1x3xf64>, %xr: tensor<2x1x3xf64>, %xc: tensor<2x1x3xf64>, %wz: tensor<3xf64>, %wr: tensor<3xf64>, %wc: tensor<3xf64>) -> (tensor<2x1x3xf64>, tensor<2x3xf64>) {
  %y, %final = linrec.nonlinear_scan initial(%h0 : tensor<2x3xf64>) inputs(%xz, %xr, %xc : tensor<2x1x3xf64>, tensor<2x1x3xf64>, tensor<2x1x3xf64>)
      parameters(%wz, %wr, %wc : tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) outputs(tensor<2x1x3xf64>) finals(tensor<2x3xf64>) {
  ^bb0(%h: f64, %az: f64, %ar: f64, %ac: f64, %uz: f64, %ur: f64, %uc: f64):
    %one = arith.constant 1.0 : f64
    %za = math.fma %uz, %h, %az : f64
    %zn = arith.negf %za : f64
    %ze = math.exp %zn : f64
    %zp = arith.addf %ze, %one : f64
    %z = arith.divf %one, %zp : f64
    %ra = math.fma %ur, %h, %ar : f64
    %rn = arith.negf %ra : f64
    %re = math.exp %rn : f64
    %rp = arith.addf %re, %one : f64
    %r = arith.divf %one, %rp : f64
    %rh = arith.mulf %r, %h : f64
    %ca = math.fma %uc, %rh, %ac : f64
    %c = math.tanh %ca : f64
    %d = arith.subf %c, %h : f64
    %n = math.fma %z, %d, %h : f64
    linrec.yield %n, %n : f64, f64
  }
  return %y, %final : tensor<2x1x3xf64>, tensor<2x3xf64>
}

func.func private @lstm(%h0: tensor<1x2xf64>, %c0: tensor<1x2xf64>, %xf: tensor<1x3x2xf64>, %xg: tensor<1x3x2xf64>, %xo: tensor<1x3x2xf64>, %wf: tensor<2xf64>, %wg: tensor<2xf64>, %wo: tensor<2xf64>, %vf: tensor<2xf64>, %vo: tensor<2xf64>) -> (tensor<1x3x2xf64>, tensor<1x2xf64>, tensor<1x2xf64>) {
  %y, %final:2 = linrec.nonlinear_scan initial(%h0, %c0 : tensor<1x2xf64>, tensor<1x2xf64>) inputs(%xf, %xg, %xo : tensor<1x3x2xf64>, tensor<1x3x2xf64>, tensor<1x3x2xf64>)
      parameters(%wf, %wg, %wo, %vf, %vo : tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) outputs(tensor<1x3x2xf64>) finals(tensor<1x2xf64>, tensor<1x2xf64>) {
  ^bb0(%h: f64, %c: f64, %af: f64, %ag: f64, %ao: f64, %uf: f64, %ug: f64, %uo: f64, %pf: f64, %po: f64):
    %one = arith.constant 1.0 : f64
    %f0 = math.fma %uf, %h, %af : f64
    %f1 = math.fma %pf, %c, %f0 : f64
    %fn = arith.negf %f1 : f64
    %fe = math.exp %fn : f64
    %fp = arith.addf %fe, %one : f64
    %f = arith.divf %one, %fp : f64
    %g0 = math.fma %ug, %h, %ag : f64
    %g = math.tanh %g0 : f64
    %d = arith.subf %c, %g : f64
    %cn = math.fma %f, %d, %g : f64
    %o0 = math.fma %uo, %h, %ao : f64
    %o1 = math.fma %po, %cn, %o0 : f64
    %on = arith.negf %o1 : f64
    %oe = math.exp %on : f64
    %op = arith.addf %oe, %one : f64
    %o = arith.divf %one, %op : f64
    %t = math.tanh %cn : f64
    %hn = arith.mulf %o, %t : f64
    linrec.yield %hn, %cn, %hn : f64, f64, f64
  }
  return %y, %final#0, %final#1 : tensor<1x3x2xf64>, tensor<1x2xf64>, tensor<1x2xf64>
}

func.func private @lstm_backward(%h0: tensor<2x1xf64>, %c0: tensor<2x1xf64>, %xf: tensor<2x2x1xf64>, %xg: tensor<2x2x1xf64>, %xo: tensor<2x2x1xf64>, %wf: tensor<1xf64>, %wg: tensor<1xf64>, %wo: tensor<1xf64>, %vf: tensor<1xf64>, %vo: tensor<1xf64>) -> (tensor<2x2x1xf64>, tensor<2x1xf64>, tensor<2x1xf64>) {
  %y, %final:2 = linrec.nonlinear_scan reverse initial(%h0, %c0 : tensor<2x1xf64>, tensor<2x1xf64>) inputs(%xf, %xg, %xo : tensor<2x2x1xf64>, tensor<2x2x1xf64>, tensor<2x2x1xf64>)
      parameters(%wf, %wg, %wo, %vf, %vo : tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>) outputs(tensor<2x2x1xf64>) finals(tensor<2x1xf64>, tensor<2x1xf64>) {
  ^bb0(%h: f64, %c: f64, %af: f64, %ag: f64, %ao: f64, %uf: f64, %ug: f64, %uo: f64, %pf: f64, %po: f64):
    %one = arith.constant 1.0 : f64
    %f0 = math.fma %uf, %h, %af : f64
    %f1 = math.fma %pf, %c, %f0 : f64
    %fn = arith.negf %f1 : f64
    %fe = math.exp %fn : f64
    %fp = arith.addf %fe, %one : f64
    %f = arith.divf %one, %fp : f64
    %g0 = math.fma %ug, %h, %ag : f64
    %g = math.tanh %g0 : f64
    %d = arith.subf %c, %g : f64
    %cn = math.fma %f, %d, %g : f64
    %o0 = math.fma %uo, %h, %ao : f64
    %o1 = math.fma %po, %cn, %o0 : f64
    %on = arith.negf %o1 : f64
    %oe = math.exp %on : f64
    %op = arith.addf %oe, %one : f64
    %o = arith.divf %one, %op : f64
    %t = math.tanh %cn : f64
    %hn = arith.mulf %o, %t : f64
    linrec.yield %hn, %cn, %hn : f64, f64, f64
  }
  return %y, %final#0, %final#1 : tensor<2x2x1xf64>, tensor<2x1xf64>, tensor<2x1xf64>
}

// Without inputs, the gradient has an output that says how many tokens there are.
func.func private @no_inputs(%s: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y, %f = linrec.nonlinear_scan initial(%s : tensor<2x3xf64>) outputs(tensor<2x5x3xf64>) finals(tensor<2x3xf64>) {
  ^bb0(%a: f64):
    %h = arith.constant 0.5 : f64
    %n = arith.mulf %a, %h : f64
    %m = math.tanh %n : f64
    linrec.yield %m, %a : f64, f64
  }
  return %f : tensor<2x3xf64>
}

// The gradient of the last state alone does not read the tokens that it goes through.
func.func private @open_tokens(%s: tensor<2x3xf64>, %x: tensor<2x?x3xf64>) -> tensor<2x3xf64> {
  %f = linrec.nonlinear_scan initial(%s : tensor<2x3xf64>) inputs(%x : tensor<2x?x3xf64>) finals(tensor<2x3xf64>) {
  ^bb0(%a: f64, %b: f64):
    %h = arith.constant 0.5 : f64
    %n = math.fma %a, %h, %b : f64
    linrec.yield %n : f64
  }
  return %f : tensor<2x3xf64>
}
func.func private @with_four_tokens(%s: tensor<2x3xf64>, %x: tensor<2x4x3xf64>) -> tensor<2x3xf64> {
  %open = tensor.cast %x : tensor<2x4x3xf64> to tensor<2x?x3xf64>
  %f = call @open_tokens(%s, %open) : (tensor<2x3xf64>, tensor<2x?x3xf64>) -> tensor<2x3xf64>
  return %f : tensor<2x3xf64>
}

func.func @gradients() {
  check.gradient @no_inputs wrt [0]
  check.gradient @with_four_tokens wrt [0, 1]
  check.gradient @gru wrt [0, 1, 2, 3, 4, 5, 6]
  check.gradient @backward wrt [0, 1, 2, 3, 4, 5, 6]
  check.gradient @last wrt [0, 1, 2, 3, 4, 5, 6]
  check.gradient @one_token wrt [0, 1, 2, 3, 4, 5, 6]
  check.gradient @lstm wrt [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
  check.gradient @lstm_backward wrt [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
  return
}
