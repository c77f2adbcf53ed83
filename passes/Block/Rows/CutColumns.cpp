//===- CutColumns.cpp - wide products of open rows ------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block of rows reads all of a matrix that it is multiplied by. Where that
// is more than a cache holds, each block reads it from memory, and if there are
// few of them, making it ready for them costs as much as they do. A block of
// columns reads its part once for hundreds of rows.
//
//===----------------------------------------------------------------------===//

#include "passes/Block/Rows/CutColumns.h"
#include "drawloom/IndexMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "passes/Block/Products.h"

using namespace mlir;
using linalg::LinalgOp;

namespace drawloom {
namespace {

/// Rows of a block, at most: what is read of its columns pays for itself. Fewer
/// where there are not many blocks of columns for several threads.
constexpr int64_t maxRows = 2048, rowsOfFew = 512, fewBlocks = 16;
/// Columns of a block. What is read of them, for 2048 inputs, is half a
/// megabyte.
constexpr int64_t mostColumns = 64, fewestColumns = 32;
/// Rows of one product. What open rows leave over goes in smaller ones.
constexpr int64_t tileRows[] = {64, 16, 4, 1};

/// A product, and what goes on from its sums: [rows, columns], all of it.
using Chain = SmallVector<LinalgOp>;

RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

int64_t bytesOf(RankedTensorType type) {
  return type.getNumElements() * type.getElementTypeBitWidth() / 8;
}

/// Columns of blocks of a matrix with so many; 0 where there are no good ones.
int64_t columnsOf(int64_t extent) {
  for (int64_t columns = mostColumns; columns >= fewestColumns; columns -= 16)
    if (extent % columns == 0)
      return columns;
  return 0;
}

/// Whether an op multiplies rows by a matrix: y[row, n] += x[row, k] w, where
/// w has no rows. `matrix` is w then.
bool isProduct(LinalgOp op, RowAnalysis &rows, Value &matrix) {
  if (!linalg::isaContractionOpInterface(op) || op.getNumLoops() != 3 ||
      op.getNumParallelLoops() != 2)
    return false;
  std::optional<unsigned> row = rows.rowLoop(op);
  OpOperand *out = op.getDpsInitOperand(0);
  AffineMap map = op.getMatchingIndexingMap(out);
  if (!row || map.getNumResults() != 2 || !map.isProjectedPermutation() ||
      map.getDimPosition(0) != *row)
    return false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap of = op.getMatchingIndexingMap(input);
    if (of.getNumResults() != 2 || !of.isProjectedPermutation())
      return false;
    if (!of.isFunctionOfDim(*row))
      matrix = input->get();
  }
  return matrix && typeOf(matrix).hasStaticShape();
}

/// Whether an op needs of `value` only what it makes itself of the place.
bool goesOn(LinalgOp op, OpOperand &use, RowAnalysis &rows) {
  AffineMap map = op.getMatchingIndexingMap(&use);
  Value matrix;
  if (op.isDpsInit(&use))
    return isProduct(op, rows, matrix);
  return op.getNumLoops() == 2 && op.getNumParallelLoops() == 2 &&
         op->getNumResults() == 1 && !op.hasIndexSemantics() &&
         map.isIdentity() &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() &&
         op.hasPureTensorSemantics() &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap other) {
           return other.isProjectedPermutation();
         });
}

Chain chainFrom(LinalgOp product, RowAnalysis &rows,
                const DenseSet<Operation *> &taken) {
  Chain chain{product};
  while (true) {
    Value value = chain.back()->getResult(0);
    if (!value.hasOneUse())
      return chain;
    OpOperand &use = *value.use_begin();
    auto next = dyn_cast<LinalgOp>(use.getOwner());
    if (!next || taken.contains(next) ||
        next->getBlock() != product->getBlock() || !goesOn(next, use, rows))
      return chain;
    chain.push_back(next);
  }
}

/// Builds the blocks of one chain.
class Blocks {
public:
  Blocks(OpBuilder &b, Chain &chain, int64_t columns, OpFoldResult rows)
      : b(b), loc(chain.back().getLoc()), math(b, loc), chain(chain),
        columns(columns), rows(rows) {}

  Value build() {
    RankedTensorType type = typeOf(chain.back()->getResult(0));
    int64_t width = type.getDimSize(1);
    Value empty = tensor::EmptyOp::create(
        b, loc, ArrayRef<OpFoldResult>{rows, b.getIndexAttr(width)},
        type.getElementType());
    int64_t blockRows = width / columns < fewBlocks ? rowsOfFew : maxRows;
    auto forall = scf::ForallOp::create(
        b, loc,
        ArrayRef<OpFoldResult>{math.ceilDiv(rows, math.number(blockRows)),
                               math.number(width / columns)},
        empty, std::nullopt);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(forall.getTerminator());
    OpFoldResult first = math.mul(OpFoldResult(forall.getInductionVar(0)),
                                  math.number(blockRows));
    OpFoldResult count =
        math.min(math.sub(rows, first), math.number(blockRows));
    OpFoldResult column =
        math.mul(OpFoldResult(forall.getInductionVar(1)), math.number(columns));
    SmallVector<OpFoldResult> offsets{first, column},
        sizes{count, math.number(columns)}, strides(2, math.number(1));
    // The part of the chain that the block makes, and its matrices' columns.
    chain = part(offsets, sizes, chain);
    for (LinalgOp &op : chain)
      turnMatrix(op);
    Value slot = tensor::ExtractSliceOp::create(
        b, loc, forall.getRegionIterArgs()[0], offsets, sizes, strides);
    SmallVector<LinalgOp> ofBlock = chain;
    OpFoldResult from = math.number(0);
    for (int64_t step : tileRows) {
      OpFoldResult to = math.sub(count, math.rem(count, math.number(step)));
      slot = buildTiles(from, to, step, slot);
      from = to;
    }
    for (LinalgOp op : llvm::reverse(ofBlock))
      op->erase();
    b.setInsertionPointToStart(forall.getTerminator().getBody());
    tensor::ParallelInsertSliceOp::create(
        b, loc, slot, forall.getRegionIterArgs()[0], offsets, sizes, strides);
    return forall.getResult(0);
  }

private:
  /// The chain at a part of its result. It starts as `whole` starts: from zeros
  /// of its own, or from what is there.
  Chain part(ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
             const Chain &whole) {
    Chain parts;
    for (LinalgOp op : whole) {
      auto tiling = cast<TilingInterface>(op.getOperation());
      SmallVector<OpFoldResult> at, extents;
      AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
      for (int64_t range : op.getStaticLoopRanges()) {
        at.push_back(math.number(0));
        extents.push_back(math.number(range));
      }
      for (unsigned i = 0; i < 2; ++i) {
        at[out.getDimPosition(i)] = offsets[i];
        extents[out.getDimPosition(i)] = sizes[i];
      }
      FailureOr<TilingResult> tiled =
          tiling.getTiledImplementation(b, at, extents);
      assert(succeeded(tiled) && "structured ops can be tiled anywhere");
      auto made = cast<LinalgOp>(tiled->tiledOps.front());
      for (OpOperand &operand : made->getOpOperands())
        connect(operand, whole, parts);
      for (Operation *slice : llvm::reverse(tiled->generatedSlices))
        if (slice->use_empty())
          slice->erase();
      parts.push_back(made);
    }
    return parts;
  }

  /// What a part reads of the chain is the part before it; zeros and what has
  /// no value are its own.
  void connect(OpOperand &operand, const Chain &whole, const Chain &parts) {
    auto slice = operand.get().getDefiningOp<tensor::ExtractSliceOp>();
    if (!slice)
      return;
    Operation *source = slice.getSource().getDefiningOp();
    for (auto [i, made] : llvm::enumerate(parts))
      if (LinalgOp(whole[i]).getOperation() == source) {
        operand.set(LinalgOp(made)->getResult(0));
        return;
      }
    auto fill = dyn_cast_or_null<linalg::FillOp>(source);
    if (!fill && !isa_and_nonnull<tensor::EmptyOp>(source))
      return;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(operand.getOwner());
    Value own = tensor::EmptyOp::create(b, loc, slice.getMixedSizes(),
                                        slice.getType().getElementType());
    if (fill)
      own = linalg::FillOp::create(b, loc, fill.getInputs(), own).getResult(0);
    operand.set(own);
  }

  /// A matrix that lies the other way, [columns, inputs], is turned once for
  /// all tiles of a block.
  void turnMatrix(LinalgOp &op) {
    if (!linalg::isaContractionOpInterface(op) || !isPlainProduct(op))
      return;
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    unsigned column = maps.back().getDimPosition(1);
    SmallVector<Value> inputs = op.getDpsInputs();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(op);
    bool turned = false;
    for (auto [input, map] : llvm::zip(inputs, maps)) {
      if (map.getDimPosition(0) != column)
        continue;
      RankedTensorType type = typeOf(input);
      Value empty = tensor::EmptyOp::create(
          b, loc, ArrayRef{type.getDimSize(1), type.getDimSize(0)},
          type.getElementType());
      input = linalg::TransposeOp::create(b, loc, input, empty,
                                          ArrayRef<int64_t>{1, 0})
                  ->getResult(0);
      map =
          AffineMap::get(map.getNumDims(), 0,
                         {map.getResult(1), map.getResult(0)}, b.getContext());
      turned = true;
    }
    if (!turned)
      return;
    auto other =
        cast<LinalgOp>(linalg::ContractOp::create(b, loc, op->getResultTypes(),
                                                  inputs, op.getDpsInits(),
                                                  b.getAffineMapArrayAttr(maps))
                           .getOperation());
    op->replaceAllUsesWith(other);
    op->erase();
    op = other;
  }

  /// Tiles of `step` rows, from one of the block's rows up to another.
  Value buildTiles(OpFoldResult from, OpFoldResult to, int64_t step,
                   Value slot) {
    auto bound = [&](OpFoldResult value) {
      return getValueOrCreateConstantIndexOp(b, loc, value);
    };
    auto loop = scf::ForOp::create(b, loc, bound(from), bound(to),
                                   bound(math.number(step)), slot);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    SmallVector<OpFoldResult> offsets{loop.getInductionVar(), math.number(0)},
        sizes{math.number(step), math.number(columns)},
        strides(2, math.number(1));
    Chain tile = part(offsets, sizes, chain);
    Value made = tensor::InsertSliceOp::create(
        b, loc, tile.back()->getResult(0), loop.getRegionIterArgs()[0], offsets,
        sizes, strides);
    scf::YieldOp::create(b, loc, made);
    return loop.getResult(0);
  }

  OpBuilder &b;
  Location loc;
  IndexMath math;
  Chain chain;
  int64_t columns;
  OpFoldResult rows;
};

} // namespace

/// Columns and rows of a part of a wide sum: it stays in the second-level cache
/// while all rows are added to it, some at a time.
static constexpr int64_t partOfSum[] = {256, 512};
static constexpr int64_t rowsAtOnce[] = {256, 64, 16, 4, 1};

/// Whether an op adds up products over the rows: y[m, n] += x[row, m] g[row,
/// n].
static bool isSum(LinalgOp op, RowAnalysis &rows) {
  if (!isPlainProduct(op) || op.getNumLoops() != 3 ||
      op.getNumParallelLoops() != 2)
    return false;
  std::optional<unsigned> row = rows.rowLoop(op);
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  return row && out.getNumResults() == 2 && out.isProjectedPermutation() &&
         !out.isFunctionOfDim(*row) &&
         typeOf(op->getResult(0)).hasStaticShape() &&
         llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
           AffineMap map = op.getMatchingIndexingMap(input);
           return map.getNumResults() == 2 && map.isProjectedPermutation() &&
                  map.getDimPosition(0) == *row;
         });
}

/// The largest divisor of an extent up to `most` that whole vectors fit into; 0
/// where there is none of some size.
static int64_t partOf(int64_t extent, int64_t most) {
  for (int64_t part = std::min(extent, most); part >= 64; --part)
    if (extent % part == 0 && part % 16 == 0)
      return part;
  return 0;
}

/// A sum over rows that is too large for blocks of rows to carry: each block
/// has a part of it, and goes through all rows in their order.
static Value buildParts(OpBuilder &b, LinalgOp op, OpFoldResult rows,
                        ArrayRef<int64_t> part) {
  Location loc = op.getLoc();
  IndexMath math(b, loc);
  OpFoldResult zero = math.number(0);
  RankedTensorType type = typeOf(op->getResult(0));
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  // The input that has the result's rows, and the other one.
  Value left, right;
  for (OpOperand *input : op.getDpsInputOperands())
    (op.getMatchingIndexingMap(input).getDimPosition(1) == out.getDimPosition(0)
         ? left
         : right) = input->get();
  Value init = op.getDpsInits()[0];
  Value empty =
      tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  auto forall = scf::ForallOp::create(
      b, loc,
      ArrayRef<OpFoldResult>{math.number(type.getDimSize(0) / part[0]),
                             math.number(type.getDimSize(1) / part[1])},
      empty, std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(forall.getTerminator());
  SmallVector<OpFoldResult> offsets, sizes, strides(2, math.number(1));
  for (unsigned i = 0; i < 2; ++i) {
    offsets.push_back(math.mul(OpFoldResult(forall.getInductionVar(i)),
                               math.number(part[i])));
    sizes.push_back(math.number(part[i]));
  }
  Value sum = tensor::EmptyOp::create(b, loc, part, type.getElementType());
  if (auto fill = init.getDefiningOp<linalg::FillOp>()) {
    sum = linalg::FillOp::create(b, loc, fill.getInputs(), sum).getResult(0);
  } else {
    Value from =
        tensor::ExtractSliceOp::create(b, loc, init, offsets, sizes, strides);
    sum = linalg::CopyOp::create(b, loc, from, sum).getResult(0);
  }
  AffineExpr m = b.getAffineDimExpr(0), n = b.getAffineDimExpr(1),
             t = b.getAffineDimExpr(2);
  auto map = [&](AffineExpr i, AffineExpr j) {
    return AffineMap::get(3, 0, {i, j}, b.getContext());
  };
  OpFoldResult from = zero;
  for (int64_t step : rowsAtOnce) {
    OpFoldResult to = math.sub(rows, math.rem(rows, math.number(step)));
    auto bound = [&](OpFoldResult value) {
      return getValueOrCreateConstantIndexOp(b, loc, value);
    };
    auto loop = scf::ForOp::create(b, loc, bound(from), bound(to),
                                   bound(math.number(step)), sum);
    from = to;
    sum = loop.getResult(0);
    OpBuilder::InsertionGuard loopGuard(b);
    b.setInsertionPointToEnd(loop.getBody());
    auto some = [&](Value of, unsigned side) -> Value {
      return tensor::ExtractSliceOp::create(
          b, loc, of,
          ArrayRef<OpFoldResult>{loop.getInductionVar(), offsets[side]},
          ArrayRef<OpFoldResult>{math.number(step), sizes[side]}, strides);
    };
    // Turned once: a product reads its left side along the inner dimension.
    Value turned = tensor::EmptyOp::create(b, loc, ArrayRef{part[0], step},
                                           typeOf(left).getElementType());
    turned = linalg::TransposeOp::create(b, loc, some(left, 0), turned,
                                         ArrayRef<int64_t>{1, 0})
                 ->getResult(0);
    Value more = linalg::ContractOp::create(
                     b, loc, sum.getType(), ValueRange{turned, some(right, 1)},
                     ValueRange{loop.getRegionIterArg(0)},
                     b.getAffineMapArrayAttr({map(m, t), map(t, n), map(m, n)}))
                     .getResult(0);
    scf::YieldOp::create(b, loc, more);
  }
  b.setInsertionPointToStart(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(
      b, loc, sum, forall.getRegionIterArgs()[0], offsets, sizes, strides);
  return forall.getResult(0);
}

bool cutWideSums(Block &block, RowAnalysis &rows,
                 const RowCostOptions &options) {
  bool any = false;
  for (auto op : llvm::make_early_inc_range(block.getOps<LinalgOp>())) {
    if (!isSum(op, rows) ||
        bytesOf(typeOf(op->getResult(0))) < options.columnBytes)
      continue;
    RankedTensorType type = typeOf(op->getResult(0));
    int64_t part[] = {partOf(type.getDimSize(0), partOfSum[0]),
                      partOf(type.getDimSize(1), partOfSum[1])};
    OpBuilder b(op);
    OpFoldResult extent = rows.extent(b, block);
    if (!part[0] || !part[1] || !extent)
      continue;
    Value made = buildParts(b, op, extent, part);
    op->getResult(0).replaceAllUsesWith(made);
    rows.forget(op);
    op->erase();
    any = true;
  }
  return any;
}

bool cutWideProducts(Block &block, RowAnalysis &rows,
                     const RowCostOptions &options) {
  SmallVector<Chain> chains;
  DenseSet<Operation *> taken;
  for (auto op : block.getOps<LinalgOp>()) {
    Value matrix;
    if (taken.contains(op) || !isProduct(op, rows, matrix) ||
        bytesOf(typeOf(matrix)) < options.columnBytes ||
        !columnsOf(typeOf(op->getResult(0)).getDimSize(1)))
      continue;
    RowRegion alone;
    alone.ops.push_back(op);
    if (!measureRows(alone, rows, options).isWide)
      continue;
    Chain &chain = chains.emplace_back(chainFrom(op, rows, taken));
    for (LinalgOp member : chain)
      taken.insert(member);
  }
  bool any = false;
  for (Chain &chain : chains) {
    OpBuilder b(chain.back());
    OpFoldResult extent = rows.extent(b, block);
    if (!extent)
      continue;
    Value last = chain.back()->getResult(0);
    Value made =
        Blocks(b, chain, columnsOf(typeOf(last).getDimSize(1)), extent).build();
    rows.addRowDim(made, 0);
    for (LinalgOp op : chain)
      for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
        if (isa<tensor::DimOp>(user)) {
          user->getResult(0).replaceAllUsesWith(
              getValueOrCreateConstantIndexOp(b, last.getLoc(), extent));
          user->erase();
        }
    last.replaceAllUsesWith(made);
    for (LinalgOp op : llvm::reverse(chain)) {
      rows.forget(op);
      op->erase();
    }
    any = true;
  }
  return any;
}

} // namespace drawloom
