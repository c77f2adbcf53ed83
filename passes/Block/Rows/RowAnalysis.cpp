//===- RowAnalysis.cpp - which dimensions are the rows --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Block/Rows/RowAnalysis.h"
#include "dialects/Interfaces/Interfaces.h"
#include "drawloom/IndexMath.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "passes/Block/Products.h"
#include "passes/Block/Rows/RowMaterialize.h"
#include "passes/Graph/OpenExtents.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace drawloom {

/// Whether some result has an extent for `loop`. True of parallel loops, and of
/// the row loop of a generic that yields rows and their sums together.
static bool isInSomeResult(linalg::LinalgOp op, unsigned loop) {
  return llvm::any_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    return op.getMatchingIndexingMap(&init).isFunctionOfDim(loop);
  });
}

/// Classes of extents that a call has given to a program that leaves them open.
static llvm::DenseSet<unsigned> givenClasses(Block &block,
                                             DimensionClasses &classes) {
  llvm::DenseSet<unsigned> given;
  if (auto function = dyn_cast<FunctionOpInterface>(block.getParentOp()))
    for (BlockArgument argument : block.getArguments())
      if (auto dims = function.getArgAttrOfType<DenseI64ArrayAttr>(
              argument.getArgNumber(), givenDimsAttr))
        for (int64_t dim : dims.asArrayRef())
          if (tensorType(argument) && dim < tensorType(argument).getRank())
            given.insert(classes.find(classes.of(argument, dim)));
  // What `join-rows` has joined was open.
  for (Operation &op : block)
    if (auto [joined, dim] = joinedSide(&op); joined)
      given.insert(classes.find(classes.of(joined, dim)));
  return given;
}

namespace {
/// Work is counted in body operations; the class of each loop gets its op's.
/// The batch takes part in every layer, a layer's width only in its own.
struct Candidate {
  int64_t work = 0, extent = 0;
  /// Of the results of ops that sum over it: blocks would carry these.
  int64_t sumBytes = 0;
  bool isParallel = false, isOpen = false;
};
using Candidates = llvm::MapVector<unsigned, Candidate>;
} // namespace

/// The class whose rows blocks share.
static std::pair<unsigned, Candidate> chooseRows(const Candidates &candidates,
                                                 bool anyOpen) {
  // Where some are open, only these: a width that two of them share has the
  // work of both.
  int64_t mostWork = 0;
  for (const auto &[id, candidate] : candidates)
    if (!anyOpen || candidate.isOpen)
      mostWork = std::max(mostWork, candidate.work);
  // Among the classes of the heavy ops: one that is parallel somewhere, if
  // possible with sums that blocks can carry, the longest.
  constexpr int64_t mostSumBytes = 512 * 1024;
  unsigned best = 0;
  Candidate chosen;
  for (const auto &[id, candidate] : candidates) {
    if (2 * candidate.work < mostWork ||
        (anyOpen ? !candidate.isOpen : candidate.extent <= 1))
      continue;
    // Of open ones the work says which is longest.
    auto weight = [](const Candidate &one) {
      return std::make_tuple(one.isParallel,
                             one.isOpen || one.sumBytes <= mostSumBytes,
                             one.isOpen ? one.work : one.extent);
    };
    if (chosen.work == 0 || weight(candidate) > weight(chosen)) {
      best = id;
      chosen = candidate;
    }
  }
  return {best, chosen};
}

std::optional<RowAnalysis> RowAnalysis::create(Block &block) {
  DimensionClasses classes(block);
  // Of an open extent nothing is known but that it may be large.
  constexpr int64_t assumedRows = 1 << 16;
  bool anyOpen = false, ofCall = false;
  llvm::DenseSet<unsigned> given = givenClasses(block, classes);
  Candidates candidates;
  auto count = [&](linalg::LinalgOp linalgOp) {
    Operation &op = *linalgOp;
    SmallVector<int64_t> ranges = linalgOp.getStaticLoopRanges();
    llvm::SmallBitVector open(ranges.size());
    int64_t work = linalgOp.getBlock()->getOperations().size();
    for (auto [i, range] : llvm::enumerate(ranges)) {
      bool isGiven = given.contains(classes.find(classes.ofLoop(&op, i)));
      open[i] = ShapedType::isDynamic(range) || isGiven;
      ofCall |= isGiven;
      work *= open[i] ? assumedRows : range;
    }
    anyOpen |= open.any();
    for (auto [i, range] : llvm::enumerate(ranges)) {
      Candidate &candidate = candidates[classes.find(classes.ofLoop(&op, i))];
      candidate.isOpen |= open[i];
      candidate.work += work;
      candidate.extent = ShapedType::isDynamic(range)
                             ? range
                             : std::max(candidate.extent, range);
      bool isInResult = isInSomeResult(linalgOp, i);
      candidate.isParallel |= isInResult;
      if (!isInResult)
        for (Type type : op.getResultTypes())
          if (auto tensor = cast<RankedTensorType>(type);
              tensor.hasStaticShape() && tensor.getElementType().isIntOrFloat())
            candidate.sumBytes +=
                tensor.getNumElements() *
                llvm::divideCeil(tensor.getElementTypeBitWidth(), 8);
    }
  };
  SmallVector<linalg::LinalgOp> moves;
  for (auto op : block.getOps<linalg::LinalgOp>()) {
    if (op->hasAttr(inOrderAttr) || isa<linalg::FillOp>(op.getOperation()))
      continue;
    if (isa<linalg::TransposeOp, linalg::CopyOp>(op.getOperation()))
      moves.push_back(op);
    else
      count(op);
  }
  // Ops of other kinds that map rows to rows, with what they read and write.
  for (Operation &op : block)
    if (isRowwise(&op) && !isa<linalg::LinalgOp>(op)) {
      unsigned row = classes.find(classes.ofLoop(&op, 0));
      auto type = cast<RankedTensorType>(op.getResult(0).getType());
      bool isGiven = given.contains(row);
      Candidate &candidate = candidates[row];
      candidate.isOpen |= type.isDynamicDim(0) || isGiven;
      candidate.isParallel = true;
      candidate.extent = type.isDynamicDim(0)
                             ? type.getDimSize(0)
                             : std::max(candidate.extent, type.getDimSize(0));
      candidate.work += (candidate.isOpen ? assumedRows : type.getDimSize(0)) *
                        llvm::product_of(type.getShape().drop_front());
      anyOpen |= candidate.isOpen;
      ofCall |= isGiven;
    }
  // What only moves data says how it is cut where nothing else does, and it has
  // to be.
  if (candidates.empty())
    for (linalg::LinalgOp op : moves)
      if (op.hasDynamicShape())
        count(op);
  auto [best, chosen] = chooseRows(candidates, anyOpen);
  if (chosen.work == 0 || (!chosen.isOpen && chosen.extent <= 1))
    return std::nullopt;
  if (!chosen.isOpen && block.getParentOp()->hasAttr(noGivenRowsAttr))
    return std::nullopt;
  return RowAnalysis(std::move(classes), best, chosen.extent, ofCall,
                     chosen.isOpen);
}

std::pair<Value, unsigned>
RowAnalysis::argumentOf(DimensionClasses::Class wanted, Block &block) {
  for (BlockArgument argument : block.getArguments())
    if (RankedTensorType type = tensorType(argument))
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        if (classes.find(classes.of(argument, dim)) == wanted)
          return {argument, dim};
  return {};
}

OpFoldResult RowAnalysis::extent(OpBuilder &builder, Block &block) {
  if (!isOpen())
    return builder.getIndexAttr(numRows);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&block);
  auto ask = [&](std::pair<Value, unsigned> at) -> OpFoldResult {
    return tensor::getMixedSize(builder, at.first.getLoc(), at.first,
                                at.second);
  };
  if (std::pair<Value, unsigned> at = argumentOf(row, block); at.first)
    return ask(at);
  for (const DimensionClasses::Larger &one : classes.larger()) {
    std::pair<Value, unsigned> at;
    if (classes.find(one.than) == row)
      at = argumentOf(classes.find(one.larger), block);
    if (!at.first)
      continue;
    OpFoldResult larger = ask(at);
    if (auto value = dyn_cast<Value>(larger))
      builder.setInsertionPointAfterValue(value);
    return IndexMath(builder, at.first.getLoc())
        .sub(larger, builder.getIndexAttr(one.by));
  }
  for (Operation &op : block) {
    auto [joined, dim] = joinedSide(&op);
    if (!joined || classes.find(classes.of(joined, dim)) != row)
      continue;
    auto [parted, first] = partedSide(&op);
    std::pair<Value, unsigned>
        outer = argumentOf(classes.find(classes.of(parted, first)), block),
        inner = argumentOf(classes.find(classes.of(parted, first + 1)), block);
    if (!outer.first || !inner.first)
      continue;
    OpFoldResult sequences = ask(outer), tokens = ask(inner);
    // Behind what it asks.
    for (OpFoldResult asked : {sequences, tokens})
      if (auto value = dyn_cast<Value>(asked))
        builder.setInsertionPointAfterValue(value);
    return IndexMath(builder, op.getLoc()).mul(sequences, tokens);
  }
  return {};
}

std::optional<RowAnalysis> RowAnalysis::refreshed(Block &block) {
  auto hasRows = [&](Value value) { return rowDim(value).has_value(); };
  Value anchor;
  for (Value argument : block.getArguments())
    if (!anchor && hasRows(argument))
      anchor = argument;
  for (Operation &op : block)
    for (Value result : op.getResults())
      if (!anchor && hasRows(result))
        anchor = result;
  // Only constants have rows, and these have none of their own.
  if (!anchor)
    return std::nullopt;
  unsigned dim = *rowDim(anchor);
  DimensionClasses fresh(block);
  unsigned freshRow = fresh.find(fresh.of(anchor, dim));
  return RowAnalysis(std::move(fresh), freshRow, numRows, ofCall,
                     openInProgram);
}

std::optional<unsigned> RowAnalysis::rowDim(Value value) {
  auto type = tensorType(value);
  if (!type || isInit(value))
    return std::nullopt;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (classes.find(classes.of(value, i)) == row)
      return i;
  return std::nullopt;
}

std::optional<unsigned> RowAnalysis::rowLoop(Operation *op) {
  unsigned loops = 0;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    if (!isa<linalg::FillOp>(op))
      loops = linalgOp.getNumLoops();
  } else if (isRowwise(op)) {
    loops = 1;
  }
  for (unsigned i = 0; i < loops; ++i)
    if (classes.find(classes.ofLoop(op, i)) == row)
      return i;
  return std::nullopt;
}

bool RowAnalysis::isMember(Operation *op) {
  if (rowLoop(op))
    return true;
  if (!isStructural(op))
    return false;
  std::optional<unsigned> dim = rowDim(op->getResult(0));
  if (!dim)
    return false;
  // A piece of the rows, or rows put behind rows, is no tile of rows.
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return !insert.isDynamicOffset(*dim) && insert.getStaticOffset(*dim) == 0 &&
           insert.getStaticSizes()[*dim] ==
               insert.getDestType().getDimSize(*dim);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return concat.getDim() != *dim;
  // Some of the rows of another tensor are no tile of its rows.
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return isInit(slice.getSource()) || rowDim(slice.getSource()).has_value();
  // Rows that a dimension is cut into, or that several are joined to, are none
  // of what they are made of.
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return !op->hasAttr(joinedRowsAttr) &&
           rowDim(op->getOperand(0)).has_value() &&
           !hasOtherOpenExtent(op->getResult(0));
  return true;
}

bool RowAnalysis::hasOtherOpenExtent(Value value) {
  RankedTensorType type = tensorType(value);
  if (!type || isInit(value))
    return false;
  // Rows that are open here and known there are for a call to agree on.
  for (int64_t i = 0; i < type.getRank(); ++i) {
    bool isRow = classes.find(classes.of(value, i)) == row;
    if (type.isDynamicDim(i) != (isRow && isOpen()))
      return true;
  }
  return false;
}

Operation *RowAnalysis::findRowsAgainstRows(Block &block) {
  auto isRow = [&](DimensionClasses::Class c) {
    return classes.find(c) == row;
  };
  for (Operation &op : block) {
    unsigned count = 0;
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(&op))
      for (unsigned i = 0; i < linalgOp.getNumLoops(); ++i)
        count += isRow(classes.ofLoop(&op, i));
    if (count > 1)
      return &op;
    for (Value result : op.getResults()) {
      auto type = tensorType(result);
      count = 0;
      for (int64_t i = 0; type && i < type.getRank(); ++i)
        count += isRow(classes.of(result, i));
      if (count > 1)
        return &op;
    }
  }
  return nullptr;
}

Operation *RowAnalysis::findOtherOpenExtent(Block &block) {
  auto hasOther = [&](Value value) { return hasOtherOpenExtent(value); };
  // What has no rows stays as it is. But rows are as many as one argument says,
  // or two: nothing checks what another tensor's extents make together.
  for (Operation &op : block) {
    if (isOpen() && isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op) &&
        !op.hasAttr(joinedRowsAttr) &&
        rowDim(op.getOperand(0)).has_value() !=
            rowDim(op.getResult(0)).has_value())
      return &op;
    if (isMember(&op) && (llvm::any_of(op.getOperands(), hasOther) ||
                          llvm::any_of(op.getResults(), hasOther)))
      return &op;
  }
  return nullptr;
}

void RowAnalysis::addRowDim(Value value, unsigned dim) {
  classes.unite(row, classes.of(value, dim));
  row = classes.find(row);
}

} // namespace drawloom
