// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-opt %s --nvptx-outline-kernels --verify-semantics | FileCheck %s

// What is read in parts lies in shared memory. Two of these tensors fit there;
// rows of three are read by a later launch, from where the first one left them.
#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func private @few_0(
// CHECK-NOT: func.func private @few_1(
// CHECK-LABEL: func.func @few(
func.func @few(%x: tensor<64x128xf32>) -> tensor<1x128xf32> {
  %e = tensor.empty() : tensor<64x128xf32>
  %f = tensor.empty() : tensor<1x128xf32>
  %a = linalg.exp ins(%x : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %b = linalg.exp ins(%a : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %p = tensor.extract_slice %a[3, 0] [1, 128] [1, 1] : tensor<64x128xf32> to tensor<1x128xf32>
  %q = tensor.extract_slice %b[3, 0] [1, 128] [1, 1] : tensor<64x128xf32> to tensor<1x128xf32>
  %s = linalg.add ins(%p, %q : tensor<1x128xf32>, tensor<1x128xf32>) outs(%f : tensor<1x128xf32>) -> tensor<1x128xf32>
  return %s : tensor<1x128xf32>
}

// CHECK-LABEL: func.func private @many_0(
// CHECK-COUNT-3: linalg.exp
// CHECK: func.func private @many_1(
// CHECK-NOT: linalg.exp
// CHECK: tensor.extract_slice
// CHECK: linalg.add
// CHECK-LABEL: func.func @many(
func.func @many(%x: tensor<64x128xf32>) -> tensor<1x128xf32> {
  %e = tensor.empty() : tensor<64x128xf32>
  %f = tensor.empty() : tensor<1x128xf32>
  %a = linalg.exp ins(%x : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %b = linalg.exp ins(%a : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %c = linalg.exp ins(%b : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %p = tensor.extract_slice %a[3, 0] [1, 128] [1, 1] : tensor<64x128xf32> to tensor<1x128xf32>
  %q = tensor.extract_slice %b[3, 0] [1, 128] [1, 1] : tensor<64x128xf32> to tensor<1x128xf32>
  %r = tensor.extract_slice %c[3, 0] [1, 128] [1, 1] : tensor<64x128xf32> to tensor<1x128xf32>
  %s = linalg.add ins(%p, %q : tensor<1x128xf32>, tensor<1x128xf32>) outs(%f : tensor<1x128xf32>) -> tensor<1x128xf32>
  %t = linalg.add ins(%r, %s : tensor<1x128xf32>, tensor<1x128xf32>) outs(%f : tensor<1x128xf32>) -> tensor<1x128xf32>
  return %t : tensor<1x128xf32>
}
