// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_LINREC_LINRECDIALECT_TD
#define DRAWLOOM_DIALECTS_LINREC_LINRECDIALECT_TD

include "mlir/IR/OpBase.td"

def LinRec_Dialect : Dialect {
  let name = "linrec";
  let summary = "linear recurrences: gated linear attention and its family";
  let cppNamespace = "::drawloom::linrec";
  // Dialects whose ops the decompositions create.
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::drawloom::block::BlockDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::gpu::GPUDialect",
    "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

class LinRec_Op<string mnemonic, list<Trait> traits = []>
    : Op<LinRec_Dialect, mnemonic, traits>;

#endif // DRAWLOOM_DIALECTS_LINREC_LINRECDIALECT_TD
