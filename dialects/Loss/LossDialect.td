// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_LOSS_LOSSDIALECT_TD
#define DRAWLOOM_DIALECTS_LOSS_LOSSDIALECT_TD

include "mlir/IR/OpBase.td"

def Loss_Dialect : Dialect {
  let name = "loss";
  let summary = "training objectives";
  let cppNamespace = "::drawloom::loss";
  // Dialects whose ops the decompositions create.
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

// Base class for the ops of this dialect.
class Loss_Op<string mnemonic, list<Trait> traits = []>
    : Op<Loss_Dialect, mnemonic, traits>;

#endif // DRAWLOOM_DIALECTS_LOSS_LOSSDIALECT_TD
