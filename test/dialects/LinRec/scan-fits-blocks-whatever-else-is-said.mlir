// RUN: drawloom-run %s --target=emulator --compile-to=shared | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a module says of its machine leaves what the target knows beside that.
// CHECK: func.func private @alone_0
module attributes {drawloom.machine = {saved_bytes = 1000000 : i64}} {
func.func @alone(%q: tensor<1x64x2x1024xf32>, %v: tensor<1x64x2x16xf32>, %g: tensor<1x64x2x1024xf32>) -> tensor<1x64x2x16xf32> {
  %o, %final = linrec.scan %q, %q, %v decay(%g)
      : (tensor<1x64x2x1024xf32>, tensor<1x64x2x1024xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x1024xf32>) -> (tensor<1x64x2x16xf32>, tensor<1x2x1024x16xf32>)
  return %o : tensor<1x64x2x16xf32>
}
}
