//===- DeepDots.cpp - dots of long inner dimensions -----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/vectors/DeepDots.h"
#include "codegen/cpu/vectors/HalfPrecisionDots.h"
#include "codegen/cpu/vectors/PrepareTensors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using linalg::LinalgOp;

namespace drawloom::cpu {

FailureOr<linalg::ContractionDimensions> dotDimensions(LinalgOp op) {
  if (!linalg::isaContractionOpInterface(op) || op.hasDynamicShape() ||
      isNarrowDot(op))
    return failure();
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  if (failed(dims) || dims->m.empty() || dims->n.empty() || dims->k.empty())
    return failure();
  return dims;
}

/// Steps of a block.
static constexpr int64_t deepBlock = 2048;

static unsigned innerLoop(LinalgOp dot) {
  return dotDimensions(dot)->k.front();
}

static int64_t depthOf(LinalgOp dot) {
  return dot.getStaticLoopRanges()[innerLoop(dot)];
}

bool isDeep(LinalgOp dot) {
  return dotDimensions(dot)->k.size() == 1 && depthOf(dot) > deepBlock;
}

static int64_t columnsOf(LinalgOp dot) {
  AffineMap out = dot.getMatchingIndexingMap(dot.getDpsInitOperand(0));
  return dot.getStaticLoopRanges()[out.getDimPosition(out.getNumResults() - 1)];
}

static bool shareOneLoop(ArrayRef<SmallVector<LinalgOp>> group, LinalgOp dot) {
  LinalgOp first = group.front().front();
  auto isRead = [&](Value input) {
    return llvm::is_contained(dot.getDpsInputs(), input);
  };
  auto isNeededBehind = [&](ArrayRef<LinalgOp> chain) {
    return llvm::all_of(
        LinalgOp(chain.front())->getUsers(), [&](Operation *user) {
          Operation *here = dot->getBlock()->findAncestorOpInBlock(*user);
          return here && dot->isBeforeInBlock(here);
        });
  };
  return depthOf(first) == depthOf(dot) &&
         llvm::any_of(first.getDpsInputs(), isRead) &&
         llvm::all_of(group, isNeededBehind);
}

SmallVector<SmallVector<SmallVector<LinalgOp>>>
groupDeepDots(ArrayRef<SmallVector<LinalgOp>> chains) {
  SmallVector<SmallVector<SmallVector<LinalgOp>>> groups;
  for (const SmallVector<LinalgOp> &chain : chains) {
    auto group = llvm::find_if(groups, [&](auto &candidate) {
      return shareOneLoop(candidate, chain.front());
    });
    if (group == groups.end())
      group = (groups.emplace_back(), std::prev(groups.end()));
    group->push_back(chain);
  }
  for (auto &group : groups)
    llvm::stable_sort(group, [](auto &a, auto &b) {
      return columnsOf(a.front()) > columnsOf(b.front());
    });
  return groups;
}

DeepDots::DeepDots(RewriterBase &rewriter, ArrayRef<LinalgOp> given)
    : dots(given) {
  LinalgOp last = dots.front();
  for (LinalgOp dot : dots) {
    sums.push_back(dot.getDpsInits()[0]);
    if (last->isBeforeInBlock(dot))
      last = dot;
  }
  rewriter.setInsertionPoint(last);
  Location loc = last.getLoc();
  int64_t depth = depthOf(last), behind = (depth - 1) / deepBlock * deepBlock;
  addParts(rewriter, rewriter.getIndexAttr(0), deepBlock);
  if (behind > deepBlock) {
    auto bound = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(rewriter, loc, value);
    };
    auto loop = scf::ForOp::create(rewriter, loc, bound(deepBlock),
                                   bound(behind), bound(deepBlock), sums);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToEnd(loop.getBody());
    sums.assign(loop.getRegionIterArgs().begin(),
                loop.getRegionIterArgs().end());
    addParts(rewriter, loop.getInductionVar(), deepBlock);
    scf::YieldOp::create(rewriter, loc, sums);
    sums.assign(loop.getResults().begin(), loop.getResults().end());
  }
  addParts(rewriter, rewriter.getIndexAttr(behind), depth - behind);
  for (auto [dot, sum] : llvm::zip_equal(dots, sums))
    rewriter.replaceOp(dot, sum);
}

void DeepDots::addParts(RewriterBase &rewriter, OpFoldResult offset,
                        int64_t size) {
  parts.emplace_back();
  // Dots that read one operand share what is cut of it.
  DenseMap<std::pair<Value, unsigned>, Value> cuts;
  for (auto [i, given] : llvm::enumerate(dots)) {
    LinalgOp dot = given;
    unsigned inner = innerLoop(dot);
    SmallVector<Value> operands = dot->getOperands();
    unsigned sum = dot.getDpsInitOperand(0)->getOperandNumber();
    operands[sum] = sums[i];
    SmallVector<OpFoldResult> sizes(dot.getNumLoops(),
                                    rewriter.getIndexAttr(0));
    sizes[inner] = rewriter.getIndexAttr(size);
    SmallVector<Value> tiles = linalg::makeTiledShapes(
        rewriter, dot.getLoc(), dot, operands, {offset}, sizes,
        getAsIndexOpFoldResult(rewriter.getContext(),
                               dot.getStaticLoopRanges()),
        /*omitPartialTileCheck=*/true);
    // All of it, and where it is filled, its tiles are.
    if (tiles[sum] != sums[i])
      rewriter.eraseOp(tiles[sum].getDefiningOp());
    tiles[sum] = sums[i];
    for (OpOperand *input : dot.getDpsInputOperands()) {
      AffineMap map = dot.getMatchingIndexingMap(input);
      std::optional<unsigned> dim =
          map.getResultPosition(rewriter.getAffineDimExpr(inner));
      if (!dim)
        continue;
      Value &tile = tiles[input->getOperandNumber()];
      auto [known, isNew] = cuts.try_emplace({input->get(), *dim}, tile);
      if (isNew)
        continue;
      rewriter.eraseOp(tile.getDefiningOp());
      tile = known->second;
    }
    auto part = cast<LinalgOp>(
        clone(rewriter, dot, TypeRange{sums[i].getType()}, tiles));
    sums[i] = part->getResult(0);
    parts.back().push_back(part);
  }
}

} // namespace drawloom::cpu
