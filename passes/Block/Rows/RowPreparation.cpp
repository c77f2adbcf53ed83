//===- RowPreparation.cpp - rewrites ahead of fusion along rows -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Block/Rows/RowPreparation.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
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

/// Keeps the reduced dimension that runs along memory as a dimension of the
/// partial results: what is added over rows then is vectors. Returns whether
/// the op was replaced.
bool keepLanes(linalg::GenericOp op, unsigned rowLoop, RowAnalysis &rows) {
  MLIRContext *context = op.getContext();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  unsigned numInputs = op.getNumDpsInputs();

  // Of the operands that have rows, the innermost loop.
  std::optional<unsigned> lane;
  for (AffineMap map : ArrayRef(maps).take_front(numInputs))
    if (map.isFunctionOfDim(rowLoop))
      if (auto last = dyn_cast<AffineDimExpr>(map.getResults().back()))
        lane = last.getPosition();
  if (!lane || *lane == rowLoop ||
      !linalg::isReductionIterator(iterators[*lane]) ||
      ShapedType::isDynamic(op.getStaticLoopRanges()[*lane]))
    return false;
  // Each result must be a row value, which stays, or a partial of this kind.
  SmallVector<Operation *> combiners(op.getNumResults());
  for (unsigned k = 0; k < op.getNumResults(); ++k) {
    AffineMap map = maps[numInputs + k];
    if (map.isFunctionOfDim(rowLoop))
      continue;
    if (map.isFunctionOfDim(*lane))
      return false;
    SmallVector<Operation *> combiner;
    if (!matchReduction(op.getRegionOutputArgs(), k, combiner) ||
        combiner.size() != 1 || !arith::getNeutralElement(combiner[0]))
      return false;
    combiners[k] = combiner[0];
  }
  if (llvm::none_of(combiners, [](Operation *combiner) { return combiner; }))
    return false;

  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<Value> inits;
  SmallVector<Type> types;
  for (unsigned k = 0; k < op.getNumResults(); ++k) {
    auto type = cast<RankedTensorType>(op.getResult(k).getType());
    if (!combiners[k]) {
      types.push_back(type);
      inits.push_back(op.getOutputs()[k]);
      continue;
    }
    SmallVector<int64_t> shape(type.getShape());
    SmallVector<AffineExpr> results(maps[numInputs + k].getResults());
    shape.push_back(ranges[*lane]);
    results.push_back(getAffineDimExpr(*lane, context));
    maps[numInputs + k] = AffineMap::get(iterators.size(), 0, results, context);
    types.push_back(RankedTensorType::get(shape, type.getElementType()));
    Value neutral = arith::ConstantOp::create(
        b, loc, *arith::getNeutralElement(combiners[k]));
    Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
    inits.push_back(
        linalg::FillOp::create(b, loc, neutral, empty).getResult(0));
  }
  iterators[*lane] = utils::IteratorType::parallel;
  auto wide = linalg::GenericOp::create(b, loc, types, op.getInputs(), inits,
                                        maps, iterators);
  IRMapping mapping;
  op.getRegion().cloneInto(&wide.getRegion(), mapping);

  for (unsigned k = 0; k < op.getNumResults(); ++k) {
    if (!combiners[k]) {
      op.getResult(k).replaceAllUsesWith(wide.getResult(k));
      continue;
    }
    auto type = cast<RankedTensorType>(op.getResult(k).getType());
    unsigned rank = type.getRank(), loops = rank + 1;
    SmallVector<utils::IteratorType> sum(rank, utils::IteratorType::parallel);
    sum.push_back(utils::IteratorType::reduction);
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
  rows.forget(op);
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

void prepareRows(Block &block, RowAnalysis &rows, bool packUniform) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(&op);
    std::optional<unsigned> rowLoop = rows.rowLoop(&op);
    if (!linalgOp || !rowLoop)
      continue;
    if (linalg::isReductionIterator(
            linalgOp.getIteratorTypesArray()[*rowLoop])) {
      auto generic = dyn_cast<linalg::GenericOp>(&op);
      if (auto reduce = dyn_cast<linalg::ReduceOp>(&op);
          reduce && reduce.getDimensions().size() > 1) {
        rows.forget(&op);
        IRRewriter rewriter(reduce);
        generic = *linalg::generalizeNamedOp(rewriter, reduce);
        linalgOp = generic;
      }
      if (generic && keepLanes(generic, *rowLoop, rows))
        continue;
    }
    if (packUniform)
      packUniformOperands(linalgOp, rows);
  }
}

} // namespace drawloom
