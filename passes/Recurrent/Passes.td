// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_PASSES_RECURRENT_PASSES_TD
#define DRAWLOOM_PASSES_RECURRENT_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandScans : Pass<"linrec-expand-scans", "::mlir::func::FuncOp"> {
  let summary = "Write out recurrent cells that are parallel along the tokens";
  let description = [{
    `linrec.nonlinear_scan` with `segments` S becomes three scans that go through
    tokens one after another, with S times as many sequences: one finds the matrix
    and the vector by which the tokens of a segment change states, one goes through
    the segments, and one does the rest with the states found. Tokens behind the last
    full segment are a scan of their own.

    With `newton` it becomes a loop of affine scans, whose coefficients one
    elementwise op computes from the states of the step before, an op for outputs and
    the residual, and the scan itself for where that is too large.

    Jacobians are derivatives of the cell by reverse mode. Scans whose extents
    calls choose go token by token.

    Example: test/passes/Recurrent/expand-scans.mlir
  }];
  let options = [
    Option<"lockstep", "lockstep", "bool", /*default=*/"false",
           "Kernels are launched one after another, without loops around them, "
           "as on a GPU: 'newton' is an error">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::drawloom::linrec::LinRecDialect"];
}

#endif // DRAWLOOM_PASSES_RECURRENT_PASSES_TD
