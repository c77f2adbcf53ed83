// RUN: not drawloom-run %s --random 2>&1 | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Also of programs that no plan was made for.
// CHECK: error: {{.*}}uses a record that has been dropped
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = offload.store %x : tensor<8xf32> -> !offload.record<tensor<8xf32>>
  offload.drop %r : !offload.record<tensor<8xf32>>
  %e = tensor.empty() : tensor<8xf32>
  %y = offload.await %r into %e : !offload.record<tensor<8xf32>>, tensor<8xf32> -> tensor<8xf32>
  return %y : tensor<8xf32>
}
