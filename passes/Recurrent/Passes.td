// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_PASSES_RECURRENT_PASSES_TD
#define DRAWLOOM_PASSES_RECURRENT_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandScans : Pass<"linrec-expand-scans", "::mlir::func::FuncOp"> {
  let summary = "Expand recurrent cells that are parallelized along the tokens";
  let description = [{
    `linrec.nonlinear_scan` with `segments` S becomes three scans that process
    tokens sequentially, with S times as many sequences: the first computes the
    matrix and the vector by which the tokens of a segment transform the state,
    the second goes through the segments, and the third computes the results
    from the states found. Tokens behind the last full segment are a separate
    scan.

    With `newton`, the scan becomes a loop of affine scans, whose coefficients
    an elementwise op computes from the states of the previous iteration,
    followed by an op for the outputs and the residual, and by the sequential
    scan itself as a fallback if the residual is too large.

    Jacobians are computed from the cell by reverse mode. Scans whose extents
    are open run token by token.

    Example: test/passes/Recurrent/expand-scans.mlir
  }];
  let options = [
    Option<"lockstep", "lockstep", "bool", /*default=*/"false",
           "Whether kernels are launched one after another, without loops "
           "around them, as on a GPU; 'newton' is then an error">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::drawloom::linrec::LinRecDialect"];
}

#endif // DRAWLOOM_PASSES_RECURRENT_PASSES_TD
