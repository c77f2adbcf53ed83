//===- Canonicalize.cpp - upstream's canonicalization ---------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/vectors/Canonicalize.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace drawloom::cpu {

void addCanonicalizationPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  for (Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  // Products have no other pattern than that, for floats and for integers.
  for (RegisteredOperationName op : context->getRegisteredOperations())
    if (op.getStringRef() != vector::ContractionOp::getOperationName())
      op.getCanonicalizationPatterns(patterns, context);
}

std::unique_ptr<Pass> createCanonicalizer(std::vector<std::string> without) {
  // As upstream names its classes; products-are-added-after-their-sums.mlir
  // fails where these have other names.
  without.push_back("CanonicalizeContractAdd<mlir::arith::AddFOp>");
  without.push_back("CanonicalizeContractAdd<mlir::arith::AddIOp>");
  return createCanonicalizerPass(GreedyRewriteConfig(), without);
}

} // namespace drawloom::cpu
