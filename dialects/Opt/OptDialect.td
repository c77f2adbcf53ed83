// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_OPT_OPTDIALECT_TD
#define DRAWLOOM_DIALECTS_OPT_OPTDIALECT_TD

include "mlir/IR/OpBase.td"

def Opt_Dialect : Dialect {
  let name = "opt";
  let summary = "optimizers";
  let cppNamespace = "::drawloom::opt";
  // Dialects whose ops the decompositions create.
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

// Base class for the ops of this dialect.
class Opt_Op<string mnemonic, list<Trait> traits = []>
    : Op<Opt_Dialect, mnemonic, traits>;

#endif // DRAWLOOM_DIALECTS_OPT_OPTDIALECT_TD
