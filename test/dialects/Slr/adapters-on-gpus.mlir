// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-run %s --entry=rows --random --random-integers=-1:3 --target=emulator --compare=interpreter | FileCheck %s
// RUN: drawloom-run %s --entry=transposed --random --random-integers=-1:3 --target=emulator --compare=interpreter | FileCheck %s
// RUN: drawloom-run %s --entry=gradient --random --random-integers=-1:3 --target=emulator --compare=interpreter | FileCheck %s
// CHECK: : passed

// Rows of no adapter and tiles with several.
func.func @rows(%x: tensor<37x24xf32>, %m: tensor<3x24x8xf32>, %w: tensor<37xi32>, %s: tensor<3xf32>) -> tensor<37x8xf32> {
  %y = slr.adapter_linear %x, %m by %w scales %s : tensor<37x24xf32>, tensor<3x24x8xf32>, tensor<37xi32>, tensor<3xf32> -> tensor<37x8xf32>
  return %y : tensor<37x8xf32>
}
func.func @transposed(%x: tensor<37x8xf32>, %m: tensor<3x24x8xf32>, %w: tensor<37xi32>) -> tensor<37x24xf32> {
  %y = slr.adapter_linear %x, %m by %w transpose : tensor<37x8xf32>, tensor<3x24x8xf32>, tensor<37xi32> -> tensor<37x24xf32>
  return %y : tensor<37x24xf32>
}
func.func @gradient(%x: tensor<37x24xf32>, %g: tensor<37x8xf32>, %w: tensor<37xi32>) -> tensor<3x24x8xf32> {
  %y = slr.adapter_outer %x, %g by %w : tensor<37x24xf32>, tensor<37x8xf32>, tensor<37xi32> -> tensor<3x24x8xf32>
  return %y : tensor<3x24x8xf32>
}
