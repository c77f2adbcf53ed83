// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-outline-kernels --nvptx-plan-launches | FileCheck %s
// RUN: mkdir -p %t
// RUN: drawloom-run %s --compile-from=blocks --target=emulator --random --spill=%t --compare=interpreter

// The memory of %a, which the store reads beside the next launch, is given to %c: that launch waits. %a comes back
// beside the launch in front of the one that reads it, where nobody uses its memory any more. What is computed again
// is behind what it was computed behind.
// CHECK: drawloom.plan
// CHECK-SAME: {\22kernel\22:\22f_0\22,\22operands\22:{{\[\[}}\22argument\22,0],[\22workspace\22,0]]}
// CHECK-SAME: {\22kernel\22:\22f_1\22,\22operands\22:{{\[\[}}\22workspace\22,0],[\22workspace\22,1024]]}
// CHECK-SAME: {\22bytes\22:1024,\22operands\22:{{\[\[}}\22workspace\22,0]],\22record\22:0,\22transfer\22:\22store\22}
// CHECK-SAME: {\22bytes\22:0,\22operands\22:[],\22record\22:0,\22transfer\22:\22release\22}
// CHECK-SAME: {\22kernel\22:\22f_2\22,\22operands\22:{{\[\[}}\22workspace\22,1024],[\22workspace\22,0]]}
// CHECK-SAME: {\22bytes\22:0,\22operands\22:[],\22record\22:0,\22transfer\22:\22load\22}
// CHECK-SAME: {\22kernel\22:\22f_3\22,\22operands\22:{{\[\[}}\22workspace\22,0],[\22workspace\22,1024]]}
// CHECK-SAME: {\22bytes\22:1024,\22operands\22:{{\[\[}}\22workspace\22,0]],\22record\22:0,\22transfer\22:\22fetch\22}
// CHECK-SAME: {\22kernel\22:\22f_4\22,\22operands\22:{{\[\[}}\22workspace\22,1024],[\22result\22,0]]}
// CHECK-SAME: {\22bytes\22:1024,\22operands\22:{{\[\[}}\22workspace\22,0]],\22record\22:0,\22transfer\22:\22await\22}
// CHECK-SAME: {\22bytes\22:0,\22operands\22:[],\22record\22:0,\22transfer\22:\22drop\22}
// CHECK-SAME: {\22kernel\22:\22f_5\22,\22operands\22:{{\[\[}}\22workspace\22,0],[\22result\22,1]]}
// CHECK-SAME: {\22kernel\22:\22f_6\22,\22operands\22:{{\[\[}}\22argument\22,0],[\22result\22,2]]}
// CHECK-SAME: \22workspace_bytes\22:2048
// CHECK-NOT: offload.again
func.func @f(%x: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
  %e = tensor.empty() : tensor<16x16xf32>
  %a = scf.forall (%i) in (16) shared_outs(%o = %e) -> tensor<16x16xf32> {
    %r = tensor.extract_slice %x[%i, 0] [1, 16] [1, 1] : tensor<16x16xf32> to tensor<1x16xf32>
    %s = arith.addf %r, %r : tensor<1x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<16x16xf32>
    }
  }
  %b = scf.forall (%i) in (16) shared_outs(%o = %e) -> tensor<16x16xf32> {
    %r = tensor.extract_slice %a[%i, 0] [1, 16] [1, 1] : tensor<16x16xf32> to tensor<1x16xf32>
    %s = arith.mulf %r, %r : tensor<1x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<16x16xf32>
    }
  }
  %k = offload.store %a : tensor<16x16xf32> -> !offload.record<tensor<16x16xf32>>
  %c = scf.forall (%i) in (16) shared_outs(%o = %e) -> tensor<16x16xf32> {
    %r = tensor.extract_slice %b[%i, 0] [1, 16] [1, 1] : tensor<16x16xf32> to tensor<1x16xf32>
    %s = arith.addf %r, %r : tensor<1x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<16x16xf32>
    }
  }
  offload.load %k : !offload.record<tensor<16x16xf32>>
  %d = scf.forall (%i) in (16) shared_outs(%o = %e) -> tensor<16x16xf32> {
    %r = tensor.extract_slice %c[%i, 0] [1, 16] [1, 1] : tensor<16x16xf32> to tensor<1x16xf32>
    %s = arith.mulf %r, %r : tensor<1x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<16x16xf32>
    }
  }
  %g = scf.forall (%i) in (16) shared_outs(%o = %e) -> tensor<16x16xf32> {
    %r = tensor.extract_slice %d[%i, 0] [1, 16] [1, 1] : tensor<16x16xf32> to tensor<1x16xf32>
    %s = arith.addf %r, %r : tensor<1x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<16x16xf32>
    }
  }
  %y = offload.await %k into %e : !offload.record<tensor<16x16xf32>>, tensor<16x16xf32> -> tensor<16x16xf32>
  offload.drop %k : !offload.record<tensor<16x16xf32>>
  %h = scf.forall (%i) in (16) shared_outs(%o = %e) -> tensor<16x16xf32> {
    %r = tensor.extract_slice %y[%i, 0] [1, 16] [1, 1] : tensor<16x16xf32> to tensor<1x16xf32>
    %s = arith.mulf %r, %r : tensor<1x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<16x16xf32>
    }
  }
  %same = offload.again %x copy 1 : tensor<16x16xf32>
  %j = scf.forall (%i) in (16) shared_outs(%o = %e) -> tensor<16x16xf32> {
    %r = tensor.extract_slice %same[%i, 0] [1, 16] [1, 1] : tensor<16x16xf32> to tensor<1x16xf32>
    %s = arith.addf %r, %r : tensor<1x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<16x16xf32>
    }
  }
  return %g, %h, %j : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
}
