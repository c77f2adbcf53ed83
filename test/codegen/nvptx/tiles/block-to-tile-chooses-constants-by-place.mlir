// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-block-to-tile -split-input-file -verify-diagnostics | FileCheck %s

// CHECK: tile.iota along 0 : tensor<3xindex>
// CHECK-COUNT-2: arith.select
// CHECK: tile.store
func.func @f() -> tensor<3xf32> attributes {drawloom.kernel} {
  %table = arith.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
  return %table : tensor<3xf32>
}

// -----

func.func @f() -> tensor<65xf32> attributes {drawloom.kernel} {
  // expected-error @+1 {{tables of more than 64 constants have no form on a GPU yet: pass them as arguments}}
  %table = arith.constant dense<"0x000000000000000100000002000000030000000400000005000000060000000700000008000000090000000A0000000B0000000C0000000D0000000E0000000F000000100000001100000012000000130000001400000015000000160000001700000018000000190000001A0000001B0000001C0000001D0000001E0000001F000000200000002100000022000000230000002400000025000000260000002700000028000000290000002A0000002B0000002C0000002D0000002E0000002F000000300000003100000032000000330000003400000035000000360000003700000038000000390000003A0000003B0000003C0000003D0000003E0000003F00000040"> : tensor<65xf32>
  return %table : tensor<65xf32>
}
