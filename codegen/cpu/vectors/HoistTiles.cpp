//===- HoistTiles.cpp - tiles that loops carry ----------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/vectors/HoistTiles.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;

namespace drawloom::cpu {

/// Bytes of the tiles that a loop reads at places that it does not change, and
/// would carry in registers.
static int64_t carriedBytes(scf::ForOp loop) {
  int64_t bytes = 0;
  for (BlockArgument argument : loop.getRegionIterArgs())
    for (Operation *user : argument.getUsers())
      if (auto read = dyn_cast<vector::TransferReadOp>(user);
          read && llvm::all_of(read.getIndices(), [&](Value index) {
            return loop.isDefinedOutsideOfLoop(index);
          })) {
        VectorType type = read.getVectorType();
        int64_t bits = type.getElementType().isIndex()
                           ? 64
                           : type.getElementTypeBitWidth();
        bytes += type.getNumElements() * llvm::divideCeil(bits, 8);
      }
  return bytes;
}

/// A loop carries no more tiles than this, several times what the registers
/// hold: beyond, each goes through the stack anyway, and assigning registers
/// takes more than linear time.
static constexpr int64_t mostCarriedBytes = 16 * 1024;

void hoistTiles(RewriterBase &rewriter, func::FuncOp function) {
  SmallVector<scf::ForOp> loops;
  function.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops)
    moveLoopInvariantCode(loop);
  // From the innermost out: each may be replaced.
  for (scf::ForOp loop : loops)
    if (carriedBytes(loop) <= mostCarriedBytes)
      (void)hoistLoopInvariantSubsets(rewriter, loop);
}

} // namespace drawloom::cpu
