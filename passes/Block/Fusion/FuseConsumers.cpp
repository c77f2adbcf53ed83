//===- FuseConsumers.cpp - what reads a block program's result -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// scf::tileAndFuseConsumer wants loops as tiling writes them: a slice of the
// result's own rank at each level. Here blocks take single heads, and loops
// within them tiles of those, by slices or by numbers of rows.
//
//===----------------------------------------------------------------------===//

#include "passes/Block/Fusion/FuseConsumers.h"
#include "dialects/Block/Block.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using linalg::LinalgOp;

namespace drawloom {
namespace {

/// Where blocks write a result.
struct Write {
  /// The tile that a block writes, an operand of the op that writes it.
  OpOperand *tile;
  SliceChain cut;
};

template <typename A, typename B> bool isSamePlace(A a, B b) {
  return a.getMixedOffsets() == b.getMixedOffsets() &&
         a.getMixedSizes() == b.getMixedSizes() &&
         a.getMixedStrides() == b.getMixedStrides();
}

/// Finds where a result that starts empty is written: once in each block, or
/// once in each iteration of a loop that carries the block's slice of it.
std::optional<Write> findWrite(scf::ForallOp forall, OpResult result) {
  OpOperand *out = forall.getTiedOpOperand(result);
  BlockArgument whole = forall.getTiedBlockArgument(out);
  SmallVector<Operation *> inserts = forall.getCombiningOps(whole);
  if (!out->get().getDefiningOp<tensor::EmptyOp>() || inserts.size() != 1)
    return std::nullopt;
  auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(inserts.front());
  if (!insert)
    return std::nullopt;
  auto loop = insert.getSource().getDefiningOp<scf::ForOp>();
  if (!loop) {
    if (!whole.hasOneUse())
      return std::nullopt;
    std::optional<SliceChain> cut = cutOf({insert});
    if (!cut || cut->empty())
      return std::nullopt;
    // The terminator holds only where things go.
    cut->back().at = forall.getTerminator();
    return Write{&insert.getSourceMutable(), *cut};
  }
  auto carried = cast<OpResult>(insert.getSource());
  OpOperand *init = loop.getTiedLoopInit(carried);
  BlockArgument inside = loop.getTiedLoopRegionIterArg(carried);
  OpOperand *yielded = loop.getTiedLoopYieldedValue(inside);
  auto slice = init->get().getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || slice.getSource() != whole || !slice->hasOneUse() ||
      !carried.hasOneUse() || !isSamePlace(slice, insert) ||
      slice.getDroppedDims() != insert.getDroppedDims() ||
      llvm::range_size(whole.getUses()) != 2 || !inside.hasOneUse() ||
      !yielded->get().hasOneUse())
    return std::nullopt;
  Operation *write = yielded->get().getDefiningOp();
  OpOperand *tile = nullptr;
  if (auto one = dyn_cast_or_null<tensor::InsertSliceOp>(write)) {
    if (one.getDest() == inside)
      tile = &one.getSourceMutable();
  } else if (auto one = dyn_cast_or_null<block::ScatterOp>(write)) {
    if (one.getDest() == inside && !one.getAccumulate())
      tile = &one.getRowsMutable();
  }
  if (!tile || write->getBlock() != loop.getBody())
    return std::nullopt;
  std::optional<SliceChain> cut = cutOf({slice, write});
  if (cut && !cut->empty())
    return Write{tile, *cut};
  return std::nullopt;
}

bool isSame(const SliceChain &a, const SliceChain &b) {
  return llvm::equal(a, b, [](const SliceStep &x, const SliceStep &y) {
    return x.at == y.at && llvm::equal(x.dims, y.dims);
  });
}

/// Whether what an op makes depends on all that it reads: nothing is known of
/// elements that no block writes, but an op that chooses may do without them.
/// So may integers, whose products and bits are chosen by zeros; those of
/// floating point are not, as what is unknown may be NaN.
bool isStrict(LinalgOp op) {
  auto mayChoose = [](Operation *inner) {
    if (isa<arith::SelectOp, scf::IfOp>(inner))
      return true;
    return !isa<arith::SIToFPOp, arith::UIToFPOp, linalg::YieldOp>(inner) &&
           llvm::any_of(inner->getOperandTypes(),
                        [](Type type) { return !isa<FloatType>(type); });
  };
  bool chooses = op.getBlock()
                     ->walk([&](Operation *inner) {
                       return mayChoose(inner) ? WalkResult::interrupt()
                                               : WalkResult::advance();
                     })
                     .wasInterrupted();
  return !chooses &&
         llvm::none_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
           return op.getMatchingBlockArgument(operand).use_empty();
         });
}

/// Ops that need nothing of a result but the same part of it, and the cuts of
/// what they make.
class Consumers {
public:
  Consumers(OpResult result, const SliceChain &cut) { cuts[result] = cut; }

  llvm::SmallPtrSet<Operation *, 8> ops;
  /// What they read that is no part of what they make.
  SmallVector<std::pair<Value, SliceChain>> others;

  bool take(Operation *op) {
    auto linalgOp = dyn_cast<LinalgOp>(op);
    if (!canBeCut(op) || !isStrict(linalgOp))
      return false;
    std::optional<SliceChain> loops;
    for (OpOperand &operand : op->getOpOperands()) {
      auto known = cuts.find(operand.get());
      if (known == cuts.end())
        continue;
      SliceChain here =
          onLoops(known->second, linalgOp.getMatchingIndexingMap(&operand));
      if (loops && !isSame(*loops, here))
        return false;
      loops = here;
    }
    for (const SliceStep &step : *loops)
      for (auto [iterator, dim] :
           llvm::zip_equal(linalgOp.getIteratorTypesArray(), step.dims))
        if (dim.kind != DimCut::Whole &&
            iterator != utils::IteratorType::parallel)
          return false;
    SmallVector<std::pair<Value, SliceChain>> read;
    for (OpOperand &operand : op->getOpOperands()) {
      SliceChain cut =
          onOperand(*loops, linalgOp.getMatchingIndexingMap(&operand));
      if (cuts.contains(operand.get())) {
        if (!isSame(cut, cuts[operand.get()]))
          return false;
        continue;
      }
      if (!canRead(cut))
        return false;
      read.push_back({operand.get(), cut});
    }
    SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    for (Value value : captured)
      read.push_back({value, {}});
    for (OpResult result : op->getResults())
      cuts[result] =
          onOperand(*loops, linalgOp.getIndexingMapMatchingResult(result));
    ops.insert(op);
    llvm::append_range(others, read);
    return true;
  }

  bool reads(Operation *op) const {
    return llvm::any_of(op->getOperands(),
                        [&](Value operand) { return cuts.contains(operand); });
  }

  const SliceChain &cutOf(Value value) const {
    return cuts.find(value)->second;
  }

  /// The one value that others read, if it is one.
  Value onlyOutput() const {
    Value output;
    for (auto &[value, cut] : cuts) {
      bool escapes = llvm::any_of(value.getUsers(), [&](Operation *user) {
        return !ops.contains(user);
      });
      if (!escapes)
        continue;
      if (output)
        return {};
      output = value;
    }
    return output;
  }

private:
  llvm::MapVector<Value, SliceChain> cuts;
};

} // namespace

std::optional<ConsumedParts> findConsumers(scf::ForallOp forall,
                                           OpResult result) {
  if (result.use_empty())
    return std::nullopt;
  std::optional<Write> write = findWrite(forall, result);
  if (!write ||
      !cast<RankedTensorType>(write->tile->get().getType()).hasStaticShape())
    return std::nullopt;
  // As many of the ops behind as leave one tensor of the same place.
  Consumers consumers(result, write->cut);
  std::optional<ConsumedParts> found;
  for (Operation *op = forall->getNextNode(); op; op = op->getNextNode()) {
    if (!consumers.reads(op) || !consumers.take(op))
      continue;
    Value output = consumers.onlyOutput();
    if (output && output != result && output.getType() == result.getType() &&
        isSame(consumers.cutOf(output), write->cut))
      found = ConsumedParts{result,     output,        write->tile,
                            write->cut, consumers.ops, consumers.others};
  }
  return found;
}

bool fuseConsumers(RewriterBase &rewriter, scf::ForallOp forall,
                   const ConsumedParts &parts) {
  SmallVector<Value> needed =
      llvm::to_vector(llvm::make_first_range(parts.others));
  if (failed(moveValueDefinitions(rewriter, needed, forall)))
    return false;
  PartBuilder builder(rewriter, parts.ops, /*packs=*/false);
  builder.know(parts.result, parts.cut, parts.tile->get());
  Value part = builder.part(parts.output, parts.cut);
  rewriter.modifyOpInPlace(parts.tile->getOwner(),
                           [&] { parts.tile->set(part); });
  rewriter.replaceAllUsesWith(parts.output, parts.result);
  return true;
}

} // namespace drawloom
