// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_KAN_KANDIALECT_TD
#define DRAWLOOM_DIALECTS_KAN_KANDIALECT_TD

include "mlir/IR/OpBase.td"

def Kan_Dialect : Dialect {
  let name = "kan";
  let summary = "learnable and fixed activations, input encodings";
  let cppNamespace = "::drawloom::kan";
  let hasCanonicalizer = 1;
  // Dialects whose ops the decompositions create.
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

// Base class for the ops of this dialect.
class Kan_Op<string mnemonic, list<Trait> traits = []>
    : Op<Kan_Dialect, mnemonic, traits>;

#endif // DRAWLOOM_DIALECTS_KAN_KANDIALECT_TD
