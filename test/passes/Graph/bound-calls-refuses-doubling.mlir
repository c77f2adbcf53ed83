// RUN: not drawloom-opt %s --bound-calls 2>&1 | FileCheck %s
// RUN: not drawloom-run %s --entry=f25 --random 2>&1 | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK: error: '@f{{[0-9]+}}' has more than 1000000 operations when all its calls are expanded
func.func private @f0(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @f1(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f0(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f2(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f1(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f1(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f3(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f2(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f2(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f4(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f3(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f3(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f5(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f4(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f4(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f6(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f5(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f5(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f7(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f6(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f6(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f8(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f7(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f7(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f9(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f8(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f8(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f10(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f9(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f9(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f11(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f10(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f10(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f12(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f11(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f11(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f13(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f12(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f12(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f14(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f13(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f13(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f15(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f14(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f14(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f16(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f15(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f15(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f17(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f16(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f16(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f18(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f17(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f17(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f19(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f18(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f18(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f20(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f19(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f19(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f21(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f20(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f20(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f22(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f21(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f21(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f23(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f22(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f22(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @f24(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f23(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f23(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func @f25(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @f24(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = call @f24(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
