//===- RowPreparation.cpp - rewrites ahead of fusion along rows -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Block/RowPreparation.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace drawloom {
namespace {

/// The map (d0, ..., dn) -> (d0, ..., dk). AffineMap::getMajorSubMap is null
/// for k = 0, which is what a scalar loss needs.
AffineMap majorMap(unsigned numDims, unsigned numResults,
                   MLIRContext *context) {
  SmallVector<AffineExpr> results;
  for (unsigned i = 0; i < numResults; ++i)
    results.push_back(getAffineDimExpr(i, context));
  return AffineMap::get(numDims, 0, results, context);
}

/// Keeps the reduced dimensions other than the rows as dimensions of the
/// partial results. Returns whether the op was replaced.
bool keepLanes(linalg::GenericOp op, unsigned rowLoop) {
  MLIRContext *context = op.getContext();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  unsigned numInputs = op.getNumDpsInputs();

  SmallVector<unsigned> lanes;
  for (unsigned l = 0; l < iterators.size(); ++l)
    if (l != rowLoop && linalg::isReductionIterator(iterators[l]))
      lanes.push_back(l);
  if (lanes.empty() || op.hasDynamicShape())
    return false;
  // Each result must be a partial of this kind: neither a row value nor one
  // that already keeps a lane.
  SmallVector<Operation *> combiners;
  for (unsigned k = 0; k < op.getNumResults(); ++k) {
    AffineMap map = maps[numInputs + k];
    if (map.isFunctionOfDim(rowLoop) ||
        llvm::any_of(lanes, [&](unsigned l) { return map.isFunctionOfDim(l); }))
      return false;
    SmallVector<Operation *> combiner;
    if (!matchReduction(op.getRegionOutputArgs(), k, combiner) ||
        combiner.size() != 1 || !arith::getNeutralElement(combiner[0]))
      return false;
    combiners.push_back(combiner[0]);
  }

  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<Value> inits;
  SmallVector<Type> types;
  for (unsigned k = 0; k < op.getNumResults(); ++k) {
    auto type = cast<RankedTensorType>(op.getResult(k).getType());
    SmallVector<int64_t> shape(type.getShape());
    SmallVector<AffineExpr> results(maps[numInputs + k].getResults());
    for (unsigned l : lanes) {
      shape.push_back(ranges[l]);
      results.push_back(getAffineDimExpr(l, context));
    }
    maps[numInputs + k] = AffineMap::get(iterators.size(), 0, results, context);
    types.push_back(RankedTensorType::get(shape, type.getElementType()));
    Value neutral = arith::ConstantOp::create(
        b, loc, *arith::getNeutralElement(combiners[k]));
    Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
    inits.push_back(
        linalg::FillOp::create(b, loc, neutral, empty).getResult(0));
  }
  for (unsigned l : lanes)
    iterators[l] = utils::IteratorType::parallel;
  auto wide = linalg::GenericOp::create(b, loc, types, op.getInputs(), inits,
                                        maps, iterators);
  IRMapping mapping;
  op.getRegion().cloneInto(&wide.getRegion(), mapping);

  for (unsigned k = 0; k < op.getNumResults(); ++k) {
    auto type = cast<RankedTensorType>(op.getResult(k).getType());
    unsigned rank = type.getRank(), loops = rank + lanes.size();
    SmallVector<utils::IteratorType> sum(rank, utils::IteratorType::parallel);
    sum.append(lanes.size(), utils::IteratorType::reduction);
    auto narrow = linalg::GenericOp::create(
        b, loc, type, wide.getResult(k), op.getOutputs()[k],
        ArrayRef<AffineMap>{AffineMap::getMultiDimIdentityMap(loops, context),
                            majorMap(loops, rank, context)},
        sum, [&](OpBuilder &nested, Location nestedLoc, ValueRange args) {
          Operation *combine = nested.clone(*combiners[k]);
          combine->setOperands({args[0], args[1]});
          linalg::YieldOp::create(nested, nestedLoc, combine->getResults());
        });
    op.getResult(k).replaceAllUsesWith(narrow.getResult(0));
  }
  op.erase();
  return true;
}

/// Gives a contraction its uniform operands with the output's innermost
/// dimension innermost.
void packUniformOperands(linalg::LinalgOp op, RowAnalysis &rows) {
  // Only these carry their maps as an attribute that may be changed.
  if (!isa<linalg::MatmulOp, linalg::ContractOp, linalg::GenericOp>(
          op.getOperation()) ||
      !linalg::isaContractionOpInterface(op))
    return;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap output = maps.back();
  if (output.getNumResults() == 0)
    return;
  AffineExpr inner = output.getResults().back();
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap &map = maps[operand->getOperandNumber()];
    auto type = tensorType(operand->get());
    if (!type || !type.hasStaticShape() || rows.rowDim(operand->get()))
      continue;
    std::optional<unsigned> position = map.getResultPosition(inner);
    if (!position || *position + 1 == map.getNumResults())
      continue;
    SmallVector<int64_t> permutation, shape;
    for (unsigned i = 0; i < map.getNumResults(); ++i)
      if (i != *position)
        permutation.push_back(i);
    permutation.push_back(*position);
    SmallVector<AffineExpr> results;
    for (int64_t p : permutation) {
      shape.push_back(type.getDimSize(p));
      results.push_back(map.getResult(p));
    }
    OpBuilder b(op);
    Value empty =
        tensor::EmptyOp::create(b, op.getLoc(), shape, type.getElementType());
    auto transposed = linalg::TransposeOp::create(
        b, op.getLoc(), operand->get(), empty, permutation);
    operand->set(transposed->getResult(0));
    map = AffineMap::get(map.getNumDims(), 0, results, b.getContext());
    op->setAttr("indexing_maps", b.getAffineMapArrayAttr(maps));
  }
}

} // namespace

void prepareRows(Block &block, RowAnalysis &rows) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(&op);
    std::optional<unsigned> rowLoop = rows.rowLoop(&op);
    if (!linalgOp || !rowLoop)
      continue;
    if (auto generic = dyn_cast<linalg::GenericOp>(&op))
      if (linalg::isReductionIterator(
              linalgOp.getIteratorTypesArray()[*rowLoop]) &&
          keepLanes(generic, *rowLoop))
        continue;
    packUniformOperands(linalgOp, rows);
  }
}

} // namespace drawloom
