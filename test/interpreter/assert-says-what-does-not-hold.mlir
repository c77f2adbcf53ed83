// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: drawloom-run %s --entry=holds --target=interpreter
// RUN: not drawloom-run %s --entry=fails --target=interpreter 2>&1 | FileCheck %s --check-prefix=ERROR

func.func @holds() -> i64 {
  %yes = arith.constant true
  cf.assert %yes, "never said"
  %one = arith.constant 1 : i64
  return %one : i64
}

// ERROR: assert-says-what-does-not-hold.mlir:[[@LINE+3]]:{{.*}}error: 'cf.assert' op does not hold: two are two
func.func @fails() -> i64 {
  %no = arith.constant false
  cf.assert %no, "two are two"
  %one = arith.constant 1 : i64
  return %one : i64
}
