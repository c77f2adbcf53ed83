// RUN: drawloom-translate %s --mlir-to-assembly --isa=avx2 | FileCheck %s
// RUN: drawloom-translate %s --mlir-to-assembly --isa=baseline | FileCheck %s
// RUN: drawloom-run %s --random --isa=baseline --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Single numbers that are chosen, changed in sign and put into tensors: no C
// library rounds to bf16.
// CHECK-NOT: truncsfbf2
func.func @f(%x: tensor<5x3xbf16>, %where: tensor<5x3xi1>, %s: tensor<bf16>) -> (tensor<5x3xbf16>, tensor<bf16>, tensor<3xi1>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant dense<1.5> : tensor<5x3xbf16>
  %chosen = arith.select %where, %x, %one : tensor<5x3xi1>, tensor<5x3xbf16>
  %number = tensor.extract %s[] : tensor<bf16>
  %negative = arith.negf %number : bf16
  %first = tensor.extract %chosen[%c1, %c2] : tensor<5x3xbf16>
  %signed = math.copysign %first, %negative : bf16
  %size = math.absf %signed : bf16
  %inserted = tensor.insert %signed into %chosen[%c2, %c1] : tensor<5x3xbf16>
  %whole = tensor.insert %size into %s[] : tensor<bf16>
  %row = tensor.extract_slice %inserted[2, 0] [1, 3] [1, 1] : tensor<5x3xbf16> to tensor<3xbf16>
  %normal = math.isnormal %row : tensor<3xbf16>
  return %inserted, %whole, %normal : tensor<5x3xbf16>, tensor<bf16>, tensor<3xi1>
}
