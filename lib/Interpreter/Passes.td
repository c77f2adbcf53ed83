// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_LIB_INTERPRETER_PASSES_TD
#define DRAWLOOM_LIB_INTERPRETER_PASSES_TD

include "mlir/Pass/PassBase.td"

def InterpretChecks : Pass<"interpret-checks", "::mlir::ModuleOp"> {
  let summary = "run the check ops of functions without arguments";
  let description = [{
    Calls every function of the module that has a body and no arguments with the
    float64 reference interpreter. Leaves the module as it is; fails if a check
    fails, if a function cannot be executed, or if there is none to call.

    Run last in a pipeline, it tests that the passes before it kept what the
    module computes:

    ```
    drawloom-opt test.mlir --canonicalize --interpret-checks
    ```

    Example:

    ```mlir
    func.func @three_fives() {
      %five = arith.constant 5.0 : f32
      %three = arith.constant 3.0 : f32
      %fifteen = arith.constant 15.0 : f32
      %product = arith.mulf %three, %five : f32
      check.close %product, %fifteen : f32
      return
    }
    ```
  }];
}

#endif // DRAWLOOM_LIB_INTERPRETER_PASSES_TD
