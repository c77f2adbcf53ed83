// RUN: drawloom-opt %s --cpu-expand-math | FileCheck %s
// RUN: drawloom-run %s --random --compare=interpreter

// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Upstream's log(1 + x) and exp(x) - 1 would lose the digits of small numbers.
// CHECK-LABEL: func.func @near_zero
// CHECK: call @expm1(%{{.*}}) : (f64) -> f64
// CHECK: call @log1p(%{{.*}}) : (f64) -> f64
func.func @near_zero(%x: f64) -> f64 {
  %a = math.expm1 %x : f64
  %b = math.log1p %a : f64
  return %b : f64
}
