// RUN: drawloom-run %s --random --random-integers=0:100 --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The sum of two numbers of 7 bits may be negative in i8, so that the index has
// to be kept inside the table.
#id = affine_map<(r) -> (r)>
func.func @look(%t: tensor<128xf32>, %x: tensor<64xi8>) -> tensor<64xf32> {
  %m = arith.constant 127 : i8
  %e = tensor.empty() : tensor<64xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xi8>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i8, %o: f32):
    %b = arith.andi %a, %m : i8
    %c = arith.addi %b, %m : i8  // wraps: -2 of 127 + 127
    %i = arith.index_cast %c : i8 to index
    %v = tensor.extract %t[%i] : tensor<128xf32>  // negative ones are read as 0
    linalg.yield %v : f32
  } -> tensor<64xf32>
  return %y : tensor<64xf32>
}
