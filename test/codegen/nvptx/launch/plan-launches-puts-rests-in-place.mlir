// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-run %s --entry=f --random --target=emulator --compare=interpreter
// RUN: drawloom-run %s --entry=both --random --target=emulator --compare=interpreter
// RUN: drawloom-run %s --entry=beside --random --target=emulator --compare=interpreter
// RUN: drawloom-opt %s --split-input-file --nvptx-outline-kernels | FileCheck %s
// RUN: drawloom-opt %s --split-input-file --nvptx-outline-kernels --nvptx-plan-launches | FileCheck %s --check-prefix=PLAN

// The rest of rows is put into what the blocks made of the others by a block that writes no more than that, in the place of the
// result: a block that copied all rows would take longer than all others together.
// CHECK-LABEL: func.func private @f_1(
// CHECK-SAME: %[[SUM:.*]]: tensor<4x256xf32>, %[[MADE:.*]]: tensor<68x256xf32>)
// CHECK: scf.forall {{.*}} shared_outs(%[[OUT:.*]] = %[[MADE]])
// CHECK-NEXT: scf.forall.in_parallel
// CHECK-NEXT: tensor.parallel_insert_slice %[[SUM]] into %[[OUT]][64, 0] [4, 256]
// PLAN: drawloom.plan
// PLAN-NOT: copy_bytes
// PLAN-SAME: \22steps\22:[{\22kernel\22:\22f_0\22
// The kernel has the result alone: two arguments in the same place are an error of the runtime.
// PLAN-SAME: {\22kernel\22:\22f_1\22,\22operands\22:{{\[\[}}\22workspace\22,0],[\22result\22,0]]}]
// PLAN-NOT: copy_bytes
// PLAN-SAME: \22workspace_bytes\22:4096
func.func @f(%x: tensor<68x256xf32>) -> tensor<68x256xf32> {
  %e = tensor.empty() : tensor<68x256xf32>
  %c = scf.forall (%b) in (64) shared_outs(%o = %e) -> (tensor<68x256xf32>) {
    %r = tensor.extract_slice %x[%b, 0] [1, 256] [1, 1] : tensor<68x256xf32> to tensor<256xf32>
    %s = arith.addf %r, %r : tensor<256xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%b, 0] [1, 256] [1, 1] : tensor<256xf32> into tensor<68x256xf32>
    }
  }
  %r = tensor.extract_slice %x[64, 0] [4, 256] [1, 1] : tensor<68x256xf32> to tensor<4x256xf32>
  %s = arith.addf %r, %r : tensor<4x256xf32>
  %d = tensor.insert_slice %s into %c[64, 0] [4, 256] [1, 1] : tensor<4x256xf32> into tensor<68x256xf32>
  return %d : tensor<68x256xf32>
}

// -----

// What was there before is returned as well: the other result starts as a copy of it.
// PLAN: drawloom.plan
// PLAN-SAME: \22copy_bytes\22:69632
func.func @both(%x: tensor<68x256xf32>, %s: tensor<4x256xf32>) -> (tensor<68x256xf32>, tensor<68x256xf32>) {
  %e = tensor.empty() : tensor<68x256xf32>
  %c = scf.forall (%b) in (68) shared_outs(%o = %e) -> (tensor<68x256xf32>) {
    %r = tensor.extract_slice %x[%b, 0] [1, 256] [1, 1] : tensor<68x256xf32> to tensor<256xf32>
    %t = arith.addf %r, %r : tensor<256xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%b, 0] [1, 256] [1, 1] : tensor<256xf32> into tensor<68x256xf32>
    }
  }
  %d = tensor.insert_slice %s into %c[64, 0] [4, 256] [1, 1] : tensor<4x256xf32> into tensor<68x256xf32>
  return %c, %d : tensor<68x256xf32>, tensor<68x256xf32>
}

// -----

// A kernel that reads what it was, beside the block that changes it, reads another copy.
// PLAN: drawloom.plan
// PLAN-SAME: \22copy_bytes\22:69632
func.func @beside(%x: tensor<68x256xf32>, %s: tensor<4x256xf32>) -> (tensor<256xf32>, tensor<68x256xf32>) {
  %e = tensor.empty() : tensor<68x256xf32>
  %zero = arith.constant 0.0 : f32
  %c = scf.forall (%b) in (68) shared_outs(%o = %e) -> (tensor<68x256xf32>) {
    %r = tensor.extract_slice %x[%b, 0] [1, 256] [1, 1] : tensor<68x256xf32> to tensor<256xf32>
    %t = arith.addf %r, %r : tensor<256xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%b, 0] [1, 256] [1, 1] : tensor<256xf32> into tensor<68x256xf32>
    }
  }
  %d = tensor.insert_slice %s into %c[64, 0] [4, 256] [1, 1] : tensor<4x256xf32> into tensor<68x256xf32>
  %sum_empty = tensor.empty() : tensor<256xf32>
  %start = linalg.fill ins(%zero : f32) outs(%sum_empty : tensor<256xf32>) -> tensor<256xf32>
  %sum = linalg.reduce ins(%c : tensor<68x256xf32>) outs(%start : tensor<256xf32>) dimensions = [0]
    (%a: f32, %b: f32) {
      %t = arith.addf %a, %b : f32
      linalg.yield %t : f32
    }
  return %sum, %d : tensor<256xf32>, tensor<68x256xf32>
}
