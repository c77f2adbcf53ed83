// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-run %s --entry=changed_behind --random --target=emulator --compare=interpreter | FileCheck %s
// RUN: drawloom-run %s --entry=changed_before --random --target=emulator --compare=interpreter | FileCheck %s
// RUN: drawloom-run %s --entry=two_results --random --target=emulator --compare=interpreter | FileCheck %s
// RUN: drawloom-run %s --entry=another_shape --random --random-integers=0:3 --target=emulator --compare=interpreter | FileCheck %s
// CHECK-NOT: FAILED
// CHECK: : passed

// What a loop makes of a slice lies in the result that it is put into. It is
// not changed there when another loop goes on with it,
func.func @changed_behind(%x: tensor<48x60xf32>) -> tensor<2x48x60xf32> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %e = tensor.empty() : tensor<2x48x60xf32>
  %s = tensor.extract_slice %e[0, 0, 0] [1, 48, 60] [1, 1, 1] : tensor<2x48x60xf32> to tensor<48x60xf32>
  %a = scf.for %i = %c0 to %c48 step %c16 iter_args(%p = %s) -> (tensor<48x60xf32>) {
    %t = tensor.extract_slice %x[%i, 0] [16, 60] [1, 1] : tensor<48x60xf32> to tensor<16x60xf32>
    %u = arith.addf %t, %t : tensor<16x60xf32>
    %n = tensor.insert_slice %u into %p[%i, 0] [16, 60] [1, 1] : tensor<16x60xf32> into tensor<48x60xf32>
    scf.yield %n : tensor<48x60xf32>
  }
  %first = tensor.insert_slice %a into %e[0, 0, 0] [1, 48, 60] [1, 1, 1] : tensor<48x60xf32> into tensor<2x48x60xf32>
  %b = scf.for %i = %c0 to %c48 step %c16 iter_args(%p = %a) -> (tensor<48x60xf32>) {
    %t = tensor.extract_slice %x[%i, 0] [16, 60] [1, 1] : tensor<48x60xf32> to tensor<16x60xf32>
    %u = arith.mulf %t, %t : tensor<16x60xf32>
    %n = tensor.insert_slice %u into %p[%i, 0] [16, 60] [1, 1] : tensor<16x60xf32> into tensor<48x60xf32>
    scf.yield %n : tensor<48x60xf32>
  }
  %both = tensor.insert_slice %b into %first[1, 0, 0] [1, 48, 60] [1, 1, 1] : tensor<48x60xf32> into tensor<2x48x60xf32>
  return %both : tensor<2x48x60xf32>
}

// nor overwritten by what that loop makes of it, while it is still read.
func.func @changed_before(%x: tensor<48x60xf32>) -> tensor<2x48x60xf32> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %e = tensor.empty() : tensor<2x48x60xf32>
  %s = tensor.extract_slice %e[0, 0, 0] [1, 48, 60] [1, 1, 1] : tensor<2x48x60xf32> to tensor<48x60xf32>
  %a = scf.for %i = %c0 to %c48 step %c16 iter_args(%p = %s) -> (tensor<48x60xf32>) {
    %t = tensor.extract_slice %x[%i, 0] [16, 60] [1, 1] : tensor<48x60xf32> to tensor<16x60xf32>
    %u = arith.addf %t, %t : tensor<16x60xf32>
    %n = tensor.insert_slice %u into %p[%i, 0] [16, 60] [1, 1] : tensor<16x60xf32> into tensor<48x60xf32>
    scf.yield %n : tensor<48x60xf32>
  }
  %b = scf.for %i = %c0 to %c48 step %c16 iter_args(%p = %a) -> (tensor<48x60xf32>) {
    %t = tensor.extract_slice %x[%i, 0] [16, 60] [1, 1] : tensor<48x60xf32> to tensor<16x60xf32>
    %u = arith.mulf %t, %t : tensor<16x60xf32>
    %n = tensor.insert_slice %u into %p[%i, 0] [16, 60] [1, 1] : tensor<16x60xf32> into tensor<48x60xf32>
    scf.yield %n : tensor<48x60xf32>
  }
  %first = tensor.insert_slice %b into %e[0, 0, 0] [1, 48, 60] [1, 1, 1] : tensor<48x60xf32> into tensor<2x48x60xf32>
  %both = tensor.insert_slice %a into %first[1, 0, 0] [1, 48, 60] [1, 1, 1] : tensor<48x60xf32> into tensor<2x48x60xf32>
  return %both : tensor<2x48x60xf32>
}

// The same where two results start as one tensor.
func.func @two_results(%x: tensor<48x60xf32>) -> (tensor<2x48x60xf32>, tensor<2x48x60xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %e = tensor.empty() : tensor<2x48x60xf32>
  %s = tensor.extract_slice %e[0, 0, 0] [1, 48, 60] [1, 1, 1] : tensor<2x48x60xf32> to tensor<48x60xf32>
  %a = scf.for %i = %c0 to %c48 step %c16 iter_args(%p = %s) -> (tensor<48x60xf32>) {
    %t = tensor.extract_slice %x[%i, 0] [16, 60] [1, 1] : tensor<48x60xf32> to tensor<16x60xf32>
    %u = arith.addf %t, %t : tensor<16x60xf32>
    %n = tensor.insert_slice %u into %p[%i, 0] [16, 60] [1, 1] : tensor<16x60xf32> into tensor<48x60xf32>
    scf.yield %n : tensor<48x60xf32>
  }
  %first = tensor.insert_slice %a into %e[0, 0, 0] [1, 48, 60] [1, 1, 1] : tensor<48x60xf32> into tensor<2x48x60xf32>
  %b = scf.for %i = %c0 to %c48 step %c16 iter_args(%p = %a) -> (tensor<48x60xf32>) {
    %t = tensor.extract_slice %x[%i, 0] [16, 60] [1, 1] : tensor<48x60xf32> to tensor<16x60xf32>
    %u = arith.mulf %t, %t : tensor<16x60xf32>
    %n = tensor.insert_slice %u into %p[%i, 0] [16, 60] [1, 1] : tensor<16x60xf32> into tensor<48x60xf32>
    scf.yield %n : tensor<48x60xf32>
  }
  %both = tensor.insert_slice %b into %first[1, 0, 0] [1, 48, 60] [1, 1, 1] : tensor<48x60xf32> into tensor<2x48x60xf32>
  %other = tensor.insert_slice %x into %e[1, 0, 0] [1, 48, 60] [1, 1, 1] : tensor<48x60xf32> into tensor<2x48x60xf32>
  %others = tensor.insert_slice %b into %other[0, 0, 0] [1, 48, 60] [1, 1, 1] : tensor<48x60xf32> into tensor<2x48x60xf32>
  return %both, %others : tensor<2x48x60xf32>, tensor<2x48x60xf32>
}

// The second loop changes what is returned, under the name of another shape.
func.func @another_shape(%x: tensor<3x23xf32>, %rows: tensor<4xi32>, %y: tensor<4x23xf32>, %places: tensor<7xi64>, %z: tensor<7xf32>)
    -> (tensor<3x23xf32>, tensor<69xf32>) {
  %sums = block.scatter accumulate %y into %x[%rows] : tensor<4x23xf32> into tensor<3x23xf32>[tensor<4xi32>]
  %flat = tensor.collapse_shape %sums [[0, 1]] : tensor<3x23xf32> into tensor<69xf32>
  %more = block.scatter accumulate %z into %flat[%places] : tensor<7xf32> into tensor<69xf32>[tensor<7xi64>]
  return %sums, %more : tensor<3x23xf32>, tensor<69xf32>
}
