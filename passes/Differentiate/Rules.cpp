//===- Rules.cpp - derivatives of upstream ops ----------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Differentiate/Rules.h"
#include "dialects/LinRec/LinRec.h"
#include "dialects/Rgnn/Rgnn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Differentiate/Passes.h"

using namespace mlir;

namespace drawloom {

Type accumulatorType(Type element) {
  return element.getIntOrFloatBitWidth() < 32
             ? Float32Type::get(element.getContext())
             : element;
}

void registerDifferentiationRules(DialectRegistry &registry) {
  // Attached when the dialect is loaded, so that a tool that never loads one
  // pays nothing.
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    attachArithRules(context);
  });
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    attachLinalgRules(context);
  });
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *) {
    attachMathRules(context);
  });
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    attachTensorRules(context);
  });
  registry.addExtension(+[](MLIRContext *context, linrec::LinRecDialect *) {
    attachScanRule(context);
  });
  registry.addExtension(+[](MLIRContext *context, rgnn::RgnnDialect *) {
    attachTraverseRule(context);
  });
}

} // namespace drawloom
