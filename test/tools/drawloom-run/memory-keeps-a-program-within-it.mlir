// RUN: mkdir -p %t.folder
// RUN: drawloom-run %s --random --compile-to=kernels | FileCheck %s --check-prefix=FREE
// RUN: drawloom-run %s --random --memory=24MiB --spill=%t.folder --compile-to=kernels | FileCheck %s
// RUN: drawloom-run %s --random --memory=24MiB --spill=%t.folder --check-bits=2
// RUN: drawloom-run %s --random --output=%t.free.npy
// RUN: drawloom-run %s --random --memory=24MiB --spill=%t.folder --output=%t.npy --plan | FileCheck %s --check-prefix=PLAN
// RUN: cmp %t.free.npy %t.npy
// RUN: drawloom-run %s --random --memory=24MiB --spill=%t.folder --save=%t.drawloom
// RUN: drawloom-run %t.drawloom --random --spill=%t.folder --output=%t.saved.npy
// RUN: cmp %t.free.npy %t.saved.npy
// RUN: not drawloom-run %t.drawloom --random 2>&1 | FileCheck %s --check-prefix=STORELESS
// RUN: not drawloom-run %s --random --memory=12MiB --spill=%t.folder 2>&1 | FileCheck %s --check-prefix=LITTLE
// RUN: env DRAWLOOM_OFFLOAD_FAULTS="op=write;nth=3;do=flip 99" drawloom-run %s --random --memory=24MiB --spill=%t.folder --output=%t.again.npy
// RUN: cmp %t.free.npy %t.again.npy
// RUN: env DRAWLOOM_OFFLOAD_FAULTS="op=write;do=errno EIO" not drawloom-run %s --random --memory=24MiB --spill=%t.folder 2>&1 | FileCheck %s --check-prefix=BROKEN

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Of four products of 4 MiB that are read in reverse order, some are in the store
// meanwhile: there is room for 16 MiB, of which a packed matrix, that the plan
// does not see at first, takes 4.

// FREE: workspace_bytes = 25165824
// CHECK: workspace_bytes = 16777216
// CHECK: offload.await
// PLAN: @chain: workspace 20.00 MiB -> 12.00 MiB (may have 12.00 MiB)
// PLAN: store 4194304
// STORELESS: error: @chain keeps {{.*}} values outside memory for some time and has no store for them: name a folder of a local disk (--spill
// LITTLE: error: @chain needs a workspace of at least {{[0-9]+}} bytes, most of them here, and may have 4194304, beside the store's 8388608: give it more memory
// BROKEN: error: {{.*}}value {{[0-9]}} of @chain
func.func private @product(%x: tensor<1024x1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %zero = arith.constant dense<0.0> : tensor<1024x1024xf32>
  %y = linalg.matmul ins(%x, %w : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%zero : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %y : tensor<1024x1024xf32>
}
func.func @chain(%x: tensor<1024x1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %a = func.call @product(%x, %w) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %b = func.call @product(%a, %w) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %c = func.call @product(%b, %w) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %d = func.call @product(%c, %w) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %e = func.call @product(%d, %c) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %f = func.call @product(%e, %b) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %g = func.call @product(%f, %a) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %g : tensor<1024x1024xf32>
}
