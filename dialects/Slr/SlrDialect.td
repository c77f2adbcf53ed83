// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_SLR_SLRDIALECT_TD
#define DRAWLOOM_DIALECTS_SLR_SLRDIALECT_TD

include "mlir/IR/OpBase.td"

def Slr_Dialect : Dialect {
  let name = "slr";
  let summary = "structured weights: low-rank, block, Kronecker and permuted matrices";
  let cppNamespace = "::drawloom::slr";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
  let extraClassDeclaration = [{
    ::mlir::Type parseType(::mlir::DialectAsmParser &parser) const override;
    void printType(::mlir::Type type,
                   ::mlir::DialectAsmPrinter &printer) const override;
  }];
}

class Slr_Op<string mnemonic, list<Trait> traits = []>
    : Op<Slr_Dialect, mnemonic, traits>;

def Slr_Term : DialectType<Slr_Dialect,
    CPred<"::mlir::isa<::drawloom::slr::TermType>($_self)">, "term">;

#endif // DRAWLOOM_DIALECTS_SLR_SLRDIALECT_TD
