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

/// Ops that follow a block program and that need, for each part of their
/// result, only the part of one of its results that a block writes at a time.
struct ConsumedParts {
  mlir::OpResult result;
  /// The result of the ops. The block program's result has no other users.
  mlir::Value output;
  mlir::OpOperand *tile; ///< The tile of the result that a block writes.
  SliceChain cut;        ///< The part of the result that the tile is.
  llvm::SmallPtrSet<mlir::Operation *, 8> ops;
  /// The other values that the ops read, and which part of each.
  llvm::SmallVector<std::pair<mlir::Value, SliceChain>> others;
};

/// Returns the longest such chain of ops that makes one tensor of the result's
/// type.
std::optional<ConsumedParts> findConsumers(mlir::scf::ForallOp forall,
                                           mlir::OpResult result);

/// Computes the ops on each part before it is written. If a value that they
/// read depends on the block program, does nothing and returns false.
bool fuseConsumers(mlir::RewriterBase &rewriter, mlir::scf::ForallOp forall,
                   const ConsumedParts &parts);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_BLOCK_FUSION_FUSECONSUMERS_H
