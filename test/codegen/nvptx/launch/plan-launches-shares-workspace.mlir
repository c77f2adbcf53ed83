// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-outline-kernels --nvptx-plan-launches | FileCheck %s
// RUN: drawloom-run %s --random --target=emulator --compare=interpreter

// Of three tensors between kernels the first is no longer in use when the third is made: bytes of two, not of three.
// CHECK: drawloom.plan
// CHECK-SAME: \22name\22:\22f\22
// CHECK-SAME: {\22kernel\22:\22f_0\22
// CHECK-SAME: [\22argument\22,0],[\22workspace\22,0]
// CHECK-SAME: [\22workspace\22,0],[\22workspace\22,4096]
// CHECK-SAME: [\22workspace\22,4096],[\22workspace\22,0]
// CHECK-SAME: [\22workspace\22,0],[\22result\22,0]
// CHECK-SAME: \22workspace_bytes\22:8192
func.func @f(%x: tensor<4x256xf32>) -> tensor<4x256xf32> {
  %e = tensor.empty() : tensor<4x256xf32>
  %a = scf.forall (%b) in (4) shared_outs(%o = %e) -> (tensor<4x256xf32>) {
    %r = tensor.extract_slice %x[%b, 0] [1, 256] [1, 1] : tensor<4x256xf32> to tensor<256xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %r into %o[%b, 0] [1, 256] [1, 1] : tensor<256xf32> into tensor<4x256xf32>
    }
  }
  %c = scf.forall (%b) in (4) shared_outs(%o = %e) -> (tensor<4x256xf32>) {
    %r = tensor.extract_slice %a[%b, 0] [1, 256] [1, 1] : tensor<4x256xf32> to tensor<256xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %r into %o[%b, 0] [1, 256] [1, 1] : tensor<256xf32> into tensor<4x256xf32>
    }
  }
  %d = scf.forall (%b) in (4) shared_outs(%o = %e) -> (tensor<4x256xf32>) {
    %r = tensor.extract_slice %c[%b, 0] [1, 256] [1, 1] : tensor<4x256xf32> to tensor<256xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %r into %o[%b, 0] [1, 256] [1, 1] : tensor<256xf32> into tensor<4x256xf32>
    }
  }
  %g = scf.forall (%b) in (4) shared_outs(%o = %e) -> (tensor<4x256xf32>) {
    %r = tensor.extract_slice %d[%b, 0] [1, 256] [1, 1] : tensor<4x256xf32> to tensor<256xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %r into %o[%b, 0] [1, 256] [1, 1] : tensor<256xf32> into tensor<4x256xf32>
    }
  }
  return %g : tensor<4x256xf32>
}
