//===- FuseConsumers.h - what reads a block program's result ----- -*- C++
//-*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_BLOCK_FUSION_FUSECONSUMERS_H
#define DRAWLOOM_PASSES_BLOCK_FUSION_FUSECONSUMERS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Block/Fusion/SliceChain.h"

namespace drawloom {

/// Ops behind a block program that need, for each part of what they make, the
/// part of one of its results that a block writes at a time.
struct ConsumedParts {
  mlir::OpResult result;
  /// What they make. Nobody else reads the result.
  mlir::Value output;
  mlir::OpOperand *tile; ///< What is written of the result,
  SliceChain cut;        ///< and where.
  llvm::SmallPtrSet<mlir::Operation *, 8> ops;
  /// What else they read, and which part for each of theirs.
  llvm::SmallVector<std::pair<mlir::Value, SliceChain>> others;
};

/// The longest such chain that makes one tensor of the result's type.
std::optional<ConsumedParts> findConsumers(mlir::scf::ForallOp forall,
                                           mlir::OpResult result);

/// Computes them on each part before it is written. False, and nothing is done,
/// where something that they read needs the block program first.
bool fuseConsumers(mlir::RewriterBase &rewriter, mlir::scf::ForallOp forall,
                   const ConsumedParts &parts);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_BLOCK_FUSION_FUSECONSUMERS_H
