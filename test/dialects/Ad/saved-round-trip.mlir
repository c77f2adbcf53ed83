// RUN: drawloom-opt %s | drawloom-opt | FileCheck %s

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK: ad.saved %{{.*}} as %{{.*}} : tensor<?xf32>
// CHECK: ad.saved %{{.*}} as %{{.*}} : f64
func.func @f(%x: tensor<?xf32>, %kept: tensor<?xf32>, %y: f64, %number: f64) -> (tensor<?xf32>, f64) {
  %e = math.exp %x : tensor<?xf32>
  %a = ad.saved %e as %kept : tensor<?xf32>
  %b = ad.saved %y as %number : f64
  return %a, %b : tensor<?xf32>, f64
}
