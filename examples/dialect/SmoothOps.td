// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef SMOOTH_OPS_TD
#define SMOOTH_OPS_TD

include "dialects/Interfaces/FloatTypes.td"
include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Smooth_Dialect : Dialect {
  let name = "smooth";
  let summary = "an activation that Drawloom does not have";
  let cppNamespace = "::smooth";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

// What it decomposes into is all that Drawloom has to know of it: that is
// differentiated, fused and compiled.
def Smooth_SoftsignOp : Op<Smooth_Dialect, "softsign", [
    Pure, SameOperandsAndResultType, AggregatedOpInterface]> {
  let summary = "x / (1 + abs(x))";
  let arguments = (ins Drawloom_FloatTensor:$x);
  let results = (outs Drawloom_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($y)";
  let extraClassDeclaration = [{
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>
    decomposeOperation(::mlir::OpBuilder &builder);
  }];
}

#endif // SMOOTH_OPS_TD
