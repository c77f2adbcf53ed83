// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-outline-kernels --nvptx-plan-launches | FileCheck %s
// RUN: mkdir -p %t
// RUN: drawloom-run %s --compile-from=blocks --target=emulator --random --spill=%t --compare=interpreter

// Two values are awaited one behind the other, the first of them again later: each time that one is awaited it has been fetched.
// CHECK: drawloom.plan
// CHECK-SAME: \22record\22:0,\22transfer\22:\22fetch\22
// CHECK-SAME: \22record\22:1,\22transfer\22:\22fetch\22
// CHECK-SAME: \22record\22:0,\22transfer\22:\22await\22
// CHECK-SAME: \22record\22:1,\22transfer\22:\22await\22
// CHECK-SAME: \22record\22:0,\22transfer\22:\22fetch\22
// CHECK-SAME: \22record\22:0,\22transfer\22:\22await\22
func.func @f(%x: tensor<64x32xf32>, %y: tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>) {
  %e = tensor.empty() : tensor<64x32xf32>
  %k = offload.store %x : tensor<64x32xf32> -> !offload.record<tensor<64x32xf32>>
  %l = offload.store %y : tensor<64x32xf32> -> !offload.record<tensor<64x32xf32>>
  offload.load %k : !offload.record<tensor<64x32xf32>>
  offload.load %l : !offload.record<tensor<64x32xf32>>
  %a = scf.forall (%i) in (64) shared_outs(%o = %e) -> tensor<64x32xf32> {
    %r = tensor.extract_slice %x[%i, 0] [1, 32] [1, 1] : tensor<64x32xf32> to tensor<1x32xf32>
    %s = tensor.extract_slice %y[%i, 0] [1, 32] [1, 1] : tensor<64x32xf32> to tensor<1x32xf32>
    %t = arith.addf %r, %s : tensor<1x32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, 0] [1, 32] [1, 1] : tensor<1x32xf32> into tensor<64x32xf32>
    }
  }
  %b = offload.await %k into %e : !offload.record<tensor<64x32xf32>>, tensor<64x32xf32> -> tensor<64x32xf32>
  %c = offload.await %l into %e : !offload.record<tensor<64x32xf32>>, tensor<64x32xf32> -> tensor<64x32xf32>
  offload.drop %l : !offload.record<tensor<64x32xf32>>
  %d = scf.forall (%i) in (64) shared_outs(%o = %e) -> tensor<64x32xf32> {
    %r = tensor.extract_slice %b[%i, 0] [1, 32] [1, 1] : tensor<64x32xf32> to tensor<1x32xf32>
    %s = tensor.extract_slice %c[%i, 0] [1, 32] [1, 1] : tensor<64x32xf32> to tensor<1x32xf32>
    %t = arith.subf %r, %s : tensor<1x32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, 0] [1, 32] [1, 1] : tensor<1x32xf32> into tensor<64x32xf32>
    }
  }
  offload.load %k : !offload.record<tensor<64x32xf32>>
  %g = offload.await %k into %e : !offload.record<tensor<64x32xf32>>, tensor<64x32xf32> -> tensor<64x32xf32>
  offload.drop %k : !offload.record<tensor<64x32xf32>>
  return %a, %d, %g : tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>
}
