//===- Canonicalize.cpp - upstream's canonicalization ---------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Canonicalize.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace drawloom::cpu {

void addCanonicalizationPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  for (Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  // Products have no other pattern than that.
  for (RegisteredOperationName op : context->getRegisteredOperations())
    if (op.getStringRef() != vector::ContractionOp::getOperationName())
      op.getCanonicalizationPatterns(patterns, context);
}

std::unique_ptr<Pass> createCanonicalizer(std::vector<std::string> without) {
  without.push_back("CanonicalizeContractAdd<mlir::arith::AddFOp>");
  return createCanonicalizerPass(GreedyRewriteConfig(), without);
}

} // namespace drawloom::cpu
