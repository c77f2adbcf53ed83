// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_PASSES_DIFFERENTIATE_PASSES_TD
#define DRAWLOOM_PASSES_DIFFERENTIATE_PASSES_TD

include "mlir/Pass/PassBase.td"

// Alphabetical. Every option has a sentence and a default.

def TakeSaved : Pass<"ad-take-saved", "::mlir::func::FuncOp"> {
  let summary =
      "read values that an earlier call saved instead of computing them";
  let description = [{
    Replaces the result of each `ad.saved`, and the value that it names in the
    function that executes it, by the saved value; the computation of that value
    is then dead. Run it behind `differentiate`, which needs the values to
    differentiate through.

    Example: test/passes/Differentiate/saved-values-are-not-computed-again.mlir
  }];
}

def DifferentiatePass : Pass<"differentiate", "::mlir::ModuleOp"> {
  let summary = "replace requests for derivatives by code that computes them";
  let description = [{
    Replaces every `ad.value_and_grad` and `ad.vjp` by the body of its callee,
    followed by code that carries the cotangents back through it (reverse mode).
    Calls inside the callee are inlined first. Requests inside a callee are
    replaced before the callee itself is differentiated, so that a gradient of
    a function that takes gradients is a second derivative.

    Each op is differentiated by the first of these that applies:

    1. `scf.for` and `scf.if`, by the pass itself. A loop stacks the values that
       it carries, one slot for each iteration, where the backward loop reads
       them; a branch is computed again in the backward branch.
    2. The op's `DifferentiableOpInterface`. Upstream ops of `arith`, `math`,
       `tensor` and `linalg` have external models: a contraction gives one
       `linalg.contract` for each operand, every other structured op gives one
       multi-result `linalg.generic` that computes the gradients of all operands
       together, by reverse mode on the scalar body.
    3. linalg's `AggregatedOpInterface`: the op is decomposed and the parts are
       differentiated.

    Cotangents are summed by `arith.addf`; where one is a product of f32 or f64
    that nothing else reads, sum and product become one `math.fma`.

    Only gradients that a `wrt` argument depends on are built. Functions without
    a request are left as they are; private callees that nothing uses any more
    are erased.

    Example:
    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = math.exp %x : tensor<4xf32>
      return %y : tensor<4xf32>
    }
    func.func @df(%x: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
      %y, %dx = ad.vjp @f(%x) cotangents(%g) wrt [0]
          : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
      return %dx : tensor<4xf32>
    }
    ```
    becomes, for `@df`,
    ```mlir
    func.func @df(%x: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
      %y = math.exp %x : tensor<4xf32>
      %dx = arith.mulf %g, %y : tensor<4xf32>
      return %dx : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let options = [
    Option<"lockstep", "lockstep", "bool", /*default=*/"false",
           "Whether lanes run in lockstep, each on its own rows; "
           "decompositions may depend on this">
  ];
}

#endif // DRAWLOOM_PASSES_DIFFERENTIATE_PASSES_TD
