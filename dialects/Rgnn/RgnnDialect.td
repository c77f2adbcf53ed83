// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef DRAWLOOM_DIALECTS_RGNN_RGNNDIALECT_TD
#define DRAWLOOM_DIALECTS_RGNN_RGNNDIALECT_TD

include "mlir/IR/OpBase.td"

def Rgnn_Dialect : Dialect {
  let name = "rgnn";
  let summary = "message passing on graphs with relations";
  let cppNamespace = "::drawloom::rgnn";
  // Dialects whose ops block programs use.
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::drawloom::block::BlockDialect",
    "::mlir::gpu::GPUDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
  let extraClassDeclaration = [{
    ::mlir::Type parseType(::mlir::DialectAsmParser &parser) const override;
    void printType(::mlir::Type type,
                   ::mlir::DialectAsmPrinter &printer) const override;
  }];
}

class Rgnn_Op<string mnemonic, list<Trait> traits = []>
    : Op<Rgnn_Dialect, mnemonic, traits>;

def Rgnn_Graph : DialectType<Rgnn_Dialect,
    CPred<"::mlir::isa<::drawloom::rgnn::GraphType>($_self)">, "graph">,
    BuildableType<"$_builder.getType<::drawloom::rgnn::GraphType>()">;

#endif // DRAWLOOM_DIALECTS_RGNN_RGNNDIALECT_TD
