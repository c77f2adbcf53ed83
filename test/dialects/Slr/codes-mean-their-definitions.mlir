// RUN: drawloom-opt %s --interpret-checks -o /dev/null
// RUN: drawloom-opt %s --decompose-graph --interpret-checks -o /dev/null

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Bytes 0x1F and 0x80 in each format and packing, written out.
func.func @test() {
  %c = arith.constant dense<[[31, -128]]> : tensor<1x2xi8>
  %s = arith.constant dense<[[2.0]]> : tensor<1x1xf64>
  %two = arith.constant dense<[[2.0, 4.0]]> : tensor<1x2xf64>
  %o = arith.constant dense<[[0.5]]> : tensor<1x1xf64>
  %v = arith.constant dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf64>
  %p = arith.constant dense<[[[2, 0], [1, 1]]]> : tensor<1x2x2xi8>
  %low, %high, %parts, %int4, %groups, %uint2, %fp8, %half, %nf4, %pairs = slr.materialize(%c, %s, %two, %o, %v, %p) {
  ^bb0(%c0: tensor<1x2xi8>, %s0: tensor<1x1xf64>, %two0: tensor<1x2xf64>, %o0: tensor<1x1xf64>, %v0: tensor<1x2x2xf64>, %p0: tensor<1x2x2xi8>):
    %0 = slr.quantized uint4 %c0 scales %s0 : tensor<1x2xi8>, tensor<1x1xf64>
    %1 = slr.quantized uint4 %c0 scales %s0 packing high_first : tensor<1x2xi8>, tensor<1x1xf64>
    %2 = slr.quantized uint4 %c0 scales %s0 offsets %o0 packing parts : tensor<1x2xi8>, tensor<1x1xf64>, tensor<1x1xf64>
    %3 = slr.quantized int4 %c0 scales %s0 : tensor<1x2xi8>, tensor<1x1xf64>
    %4 = slr.quantized uint4 %c0 scales %two0 : tensor<1x2xi8>, tensor<1x2xf64>
    %5 = slr.quantized uint2 %c0 scales %s0 : tensor<1x2xi8>, tensor<1x1xf64>
    %6 = slr.quantized f8e4m3fn %c0 scales %s0 : tensor<1x2xi8>, tensor<1x1xf64>
    %7 = slr.quantized f8e5m2 %c0 scales %s0 : tensor<1x2xi8>, tensor<1x1xf64>
    %8 = slr.quantized nf4 %c0 scales %o0 packing high_first : tensor<1x2xi8>, tensor<1x1xf64>
    %9 = slr.n_of_m %v0 at %p0 of 3 : tensor<1x2x2xf64>, tensor<1x2x2xi8>
    slr.yield %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : !slr.term<1x4>, !slr.term<1x4>, !slr.term<1x4>, !slr.term<1x4>, !slr.term<1x4>, !slr.term<1x8>, !slr.term<1x2>, !slr.term<1x2>, !slr.term<1x4>, !slr.term<1x6>
  } : (tensor<1x2xi8>, tensor<1x1xf64>, tensor<1x2xf64>, tensor<1x1xf64>, tensor<1x2x2xf64>, tensor<1x2x2xi8>) -> (tensor<1x4xf64>, tensor<1x4xf64>, tensor<1x4xf64>, tensor<1x4xf64>, tensor<1x4xf64>, tensor<1x8xf64>, tensor<1x2xf64>, tensor<1x2xf64>, tensor<1x4xf64>, tensor<1x6xf64>)
  %low_wanted = arith.constant dense<[[30.0, 2.0, 0.0, 16.0]]> : tensor<1x4xf64>
  check.close %low, %low_wanted : tensor<1x4xf64>
  %high_wanted = arith.constant dense<[[2.0, 30.0, 16.0, 0.0]]> : tensor<1x4xf64>
  check.close %high, %high_wanted : tensor<1x4xf64>
  %parts_wanted = arith.constant dense<[[30.5, 0.5, 2.5, 16.5]]> : tensor<1x4xf64>
  check.close %parts, %parts_wanted : tensor<1x4xf64>
  %int4_wanted = arith.constant dense<[[-2.0, 2.0, 0.0, -16.0]]> : tensor<1x4xf64>
  check.close %int4, %int4_wanted : tensor<1x4xf64>
  %groups_wanted = arith.constant dense<[[30.0, 2.0, 0.0, 32.0]]> : tensor<1x4xf64>
  check.close %groups, %groups_wanted : tensor<1x4xf64>
  %uint2_wanted = arith.constant dense<[[6.0, 6.0, 2.0, 0.0, 0.0, 0.0, 0.0, 4.0]]> : tensor<1x8xf64>
  check.close %uint2, %uint2_wanted : tensor<1x8xf64>
  // 0x1F: exponent 3 - 7, mantissa 1 + 7/8; exponent 7 - 15, mantissa 1 + 3/4.
  %fp8_wanted = arith.constant dense<[[0.234375, 0.0]]> : tensor<1x2xf64>
  check.close %fp8, %fp8_wanted : tensor<1x2xf64>
  %half_wanted = arith.constant dense<[[0.013671875, 0.0]]> : tensor<1x2xf64>
  check.close %half, %half_wanted : tensor<1x2xf64>
  %nf4_wanted = arith.constant dense<[[-0.3480964004993438, 0.5, 0.03979014977812767, -0.5]]> : tensor<1x4xf64>
  check.close %nf4, %nf4_wanted : tensor<1x4xf64>
  %pairs_wanted = arith.constant dense<[[2.0, 0.0, 1.0, 0.0, 7.0, 0.0]]> : tensor<1x6xf64>
  check.close %pairs, %pairs_wanted : tensor<1x6xf64>
  return
}
