//===- PackPanels.cpp - operands of dots in panels ------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/vectors/PackPanels.h"
#include "codegen/cpu/vectors/RegisterTiles.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using linalg::LinalgOp;

namespace drawloom::cpu {

/// Of the first level: what a panel with rows a power of two apart can fill.
static constexpr int64_t cacheBytes = 32 * 1024;
/// Packing costs a panel's read and write, so this many uses hide it.
static constexpr int64_t fewestUses = 8;

Operation *outermostUser(Value source, Operation *op) {
  Operation *point = op;
  while (Operation *parent = point->getParentOp()) {
    if (!isa<scf::ForOp, scf::ForallOp>(parent) ||
        parent->isAncestor(source.getParentBlock()->getParentOp()))
      break;
    point = parent;
  }
  return point;
}

Value Panels::tile(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> offsets,
                   ArrayRef<int64_t> sizes) const {
  auto type = cast<RankedTensorType>(tensor.getType());
  AffineExpr column = b.getAffineDimExpr(0);
  int64_t width = type.getDimSize(2);
  AffineExpr sum = column + b.getAffineDimExpr(1);
  OpFoldResult first = affine::makeComposedFoldedAffineApply(
      b, loc, sum, {firstColumn, offsets[1]});
  OpFoldResult panel = affine::makeComposedFoldedAffineApply(
      b, loc, column.floorDiv(width), {first});
  OpFoldResult within =
      affine::makeComposedFoldedAffineApply(b, loc, column % width, {first});
  if (sizes[1] == width)
    within = b.getIndexAttr(0);
  OpFoldResult row = affine::makeComposedFoldedAffineApply(
      b, loc, sum, {firstRow, offsets[0]});
  OpFoldResult one = b.getIndexAttr(1);
  return tensor::ExtractSliceOp::create(
      b, loc, RankedTensorType::get(sizes, type.getElementType()), tensor,
      {panel, row, within},
      {one, b.getIndexAttr(sizes[0]), b.getIndexAttr(sizes[1])},
      {one, one, one});
}

/// Whether an op is computed point by point, of what lies along its loops, and
/// so cheaply that each of its readers may do it.
static bool isCheapPointwise(LinalgOp op) {
  constexpr int64_t mostOperations = 16;
  int64_t count = 0;
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (!isa<arith::ArithDialect>(inner.getDialect()))
      return false;
    ++count;
  }
  return count <= mostOperations && op->getNumResults() == 1 &&
         op.getNumParallelLoops() == op.getNumLoops() &&
         op.hasPureTensorSemantics() &&
         !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation() &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
           return map.isProjectedPermutation();
         });
}

/// The op of blocks that each make a part of one result by it, on the whole of
/// what they read: a new op, or null.
static LinalgOp wholeOf(RewriterBase &rewriter, scf::ForallOp forall) {
  auto tiles = forall.getBody()->getOps<LinalgOp>();
  if (forall->getNumResults() != 1 || !llvm::hasSingleElement(tiles))
    return nullptr;
  LinalgOp tile = *tiles.begin();
  SmallVector<Operation *> inserts =
      forall.getCombiningOps(forall.getRegionIterArgs()[0]);
  auto insert = inserts.size() == 1
                    ? dyn_cast<tensor::ParallelInsertSliceOp>(inserts.front())
                    : nullptr;
  // What no block writes has no value.
  if (!insert || !isCheapPointwise(tile) ||
      !forall.getOutputs()[0].getDefiningOp<tensor::EmptyOp>() ||
      insert.getSource() != tile->getResult(0) || !insert.hasUnitStride() ||
      insert.getSourceType().getRank() != insert.getDestType().getRank())
    return nullptr;
  // A block's place along each of its loops.
  SmallVector<OpFoldResult> at(tile.getNumLoops());
  AffineMap out = tile.getMatchingIndexingMap(tile.getDpsInitOperand(0));
  for (auto [i, offset] : llvm::enumerate(insert.getMixedOffsets()))
    at[out.getDimPosition(i)] = offset;
  SmallVector<Value> operands;
  for (OpOperand *input : tile.getDpsInputOperands()) {
    if (!isa<RankedTensorType>(input->get().getType())) {
      operands.push_back(input->get());
      continue;
    }
    auto slice = input->get().getDefiningOp<tensor::ExtractSliceOp>();
    AffineMap map = tile.getMatchingIndexingMap(input);
    if (!slice || !forall.isDefinedOutsideOfLoop(slice.getSource()) ||
        slice.getSourceType().getRank() != slice.getType().getRank())
      return nullptr;
    for (auto [i, offset] : llvm::enumerate(slice.getMixedOffsets()))
      if (offset != at[map.getDimPosition(i)])
        return nullptr;
    for (OpFoldResult stride : slice.getMixedStrides())
      if (!isOneInteger(stride))
        return nullptr;
    operands.push_back(slice.getSource());
  }
  llvm::SetVector<Value> used(operands.begin(), operands.end());
  getUsedValuesDefinedAbove(tile->getRegions(), used);
  if (llvm::any_of(used, [&](Value value) {
        return !forall.isDefinedOutsideOfLoop(value);
      }))
    return nullptr;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(forall);
  operands.push_back(forall.getOutputs()[0]);
  return cast<LinalgOp>(
      clone(rewriter, tile, forall->getResultTypes(), operands));
}

namespace {
/// What makes the columns of a matrix on their way into panels: a copy, or the
/// op that makes the matrix, which then nobody needs as a whole.
class PanelSource {
public:
  PanelSource(RewriterBase &rewriter, Value matrix) : matrix(matrix) {
    if (auto forall = matrix.getDefiningOp<scf::ForallOp>())
      producer = made = wholeOf(rewriter, forall);
    else if (auto op = matrix.getDefiningOp<LinalgOp>();
             op && !isa<linalg::FillOp>(op.getOperation()) &&
             isCheapPointwise(op) &&
             // It may read what is in registers then.
             llvm::none_of(op.getDpsInputs(), [](Value input) {
               return input.getDefiningOp<LinalgOp>();
             }))
      producer = op;
  }
  void finish(RewriterBase &rewriter) {
    if (made)
      rewriter.eraseOp(made);
  }

  /// Writes the columns from `offset` on to `to`.
  LinalgOp write(OpBuilder &b, Location loc, OpFoldResult offset, Value to) {
    auto part = cast<RankedTensorType>(to.getType());
    SmallVector<OpFoldResult> offsets{b.getIndexAttr(0), offset},
        sizes = getAsIndexOpFoldResult(b.getContext(), part.getShape()),
        strides(2, b.getIndexAttr(1));
    if (!producer) {
      Value from = tensor::ExtractSliceOp::create(b, loc, part, matrix, offsets,
                                                  sizes, strides);
      return cast<LinalgOp>(
          linalg::CopyOp::create(b, loc, from, to).getOperation());
    }
    AffineMap out =
        producer.getMatchingIndexingMap(producer.getDpsInitOperand(0));
    SmallVector<OpFoldResult> at(2), extents(2);
    for (unsigned i = 0; i < 2; ++i) {
      at[out.getDimPosition(i)] = offsets[i];
      extents[out.getDimPosition(i)] = sizes[i];
    }
    FailureOr<TilingResult> tiled =
        cast<TilingInterface>(producer.getOperation())
            .getTiledImplementation(b, at, extents);
    assert(succeeded(tiled) && "pointwise ops can be tiled anywhere");
    auto op = cast<LinalgOp>(tiled->tiledOps.front());
    Operation *init = op.getDpsInits()[0].getDefiningOp();
    op.getDpsInitsMutable()[0].set(to);
    if (init && init->use_empty())
      init->erase();
    return op;
  }

private:
  Value matrix;
  LinalgOp producer, made;
};

/// A panel's place among others.
struct PanelPlace {
  PanelPlace(OpBuilder &b, OpFoldResult panel, int64_t rows, int64_t columns)
      : at{panel, b.getIndexAttr(0), b.getIndexAttr(0)},
        extent{b.getIndexAttr(1), b.getIndexAttr(rows),
               b.getIndexAttr(columns)},
        strides(3, b.getIndexAttr(1)) {}
  Value in(OpBuilder &b, Location loc, Value panels) const {
    auto type = cast<RankedTensorType>(panels.getType());
    auto part = RankedTensorType::get(
        {*getConstantIntValue(extent[1]), *getConstantIntValue(extent[2])},
        type.getElementType());
    return tensor::ExtractSliceOp::create(b, loc, part, panels, at, extent,
                                          strides);
  }
  SmallVector<OpFoldResult> at, extent, strides;
};
} // namespace

/// Elements from one row of a matrix to the next.
static int64_t rowStride(Value matrix) {
  while (auto slice = matrix.getDefiningOp<tensor::ExtractSliceOp>())
    matrix = slice.getSource();
  return cast<RankedTensorType>(matrix.getType()).getShape().back();
}

/// `uses` by one block of the loops between `dot` and `point`, by all of them.
static int64_t usesByBlocks(Operation *dot, Operation *point, int64_t uses) {
  for (Operation *outer = dot; outer != point; outer = outer->getParentOp()) {
    auto forall = dyn_cast<scf::ForallOp>(outer->getParentOp());
    if (!forall)
      continue;
    for (auto [lo, hi, by] :
         llvm::zip_equal(forall.getMixedLowerBound(),
                         forall.getMixedUpperBound(), forall.getMixedStep())) {
      auto count = constantTripCount(lo, hi, by, /*isSigned=*/true,
                                     scf::computeUbMinusLb);
      // As many blocks as a call says may be many. Few rows are those that
      // these leave over.
      if (count)
        uses *= count->getSExtValue();
      else if (2 * uses >= fewestUses)
        uses *= fewestUses;
    }
  }
  return uses;
}

using WriteColumns =
    llvm::function_ref<Value(OpBuilder &b, OpFoldResult offset, Value to)>;

/// Fills panels one after the other, or in blocks where no block is around
/// them; the last one in part.
static Value fillPanels(RewriterBase &rewriter, Location loc,
                        RankedTensorType type, int64_t columns, bool inBlocks,
                        WriteColumns write) {
  Value panels = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                         type.getElementType());
  int64_t rows = type.getDimSize(1), width = type.getDimSize(2),
          whole = columns / width;
  auto offsetOf = [&](OpBuilder &b, Value panel) {
    return affine::makeComposedFoldedAffineApply(
        b, loc, b.getAffineDimExpr(0) * width, {panel});
  };
  if (inBlocks) {
    auto bound = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(rewriter, loc, value);
    };
    panels = scf::ForOp::create(
                 rewriter, loc, bound(0), bound(whole), bound(1), panels,
                 [&](OpBuilder &b, Location, Value panel, ValueRange into) {
                   PanelPlace place(b, panel, rows, width);
                   Value made =
                       write(b, offsetOf(b, panel), place.in(b, loc, into[0]));
                   scf::YieldOp::create(b, loc,
                                        tensor::InsertSliceOp::create(
                                            b, loc, made, into[0], place.at,
                                            place.extent, place.strides)
                                            .getResult());
                 })
                 .getResult(0);
  } else {
    // What is packed for all blocks is packed in blocks itself.
    panels =
        scf::ForallOp::create(
            rewriter, loc, ArrayRef<OpFoldResult>{rewriter.getIndexAttr(whole)},
            panels, std::nullopt,
            [&](OpBuilder &b, Location, ValueRange arguments) {
              PanelPlace place(b, arguments[0], rows, width);
              Value made = write(b, offsetOf(b, arguments[0]),
                                 place.in(b, loc, arguments[1]));
              auto end = scf::InParallelOp::create(b, loc);
              b.setInsertionPointToStart(end.getBody());
              tensor::ParallelInsertSliceOp::create(b, loc, made, arguments[1],
                                                    place.at, place.extent,
                                                    place.strides);
            })
            .getResult(0);
  }
  if (int64_t rest = columns % width) {
    PanelPlace place(rewriter, rewriter.getIndexAttr(whole), rows, rest);
    Value made = write(rewriter, rewriter.getIndexAttr(whole * width),
                       place.in(rewriter, loc, panels));
    panels = tensor::InsertSliceOp::create(
        rewriter, loc, made, panels, place.at, place.extent, place.strides);
  }
  return panels;
}

std::optional<Panels> packPanels(RewriterBase &rewriter,
                                 ArrayRef<PanelReader> readers, int64_t width) {
  OpOperand &input = *readers.front().input;
  auto dot = cast<LinalgOp>(input.getOwner());
  AffineMap map = dot.getMatchingIndexingMap(&input);
  if (map.getNumResults() != 2 || !map.isProjectedPermutation())
    return std::nullopt;
  Value matrix = input.get();
  auto type = cast<RankedTensorType>(matrix.getType());
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1),
          stride = rowStride(matrix);
  if (!type.getElementType().isIntOrFloat() || !type.hasStaticShape() ||
      ShapedType::isDynamic(stride))
    return std::nullopt;
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  Operation *point = outermostUser(matrix, dot);
  int64_t uses = 0;
  for (const PanelReader &reader : readers) {
    Operation *user = reader.input->getOwner();
    Operation *other = outermostUser(matrix, user);
    uses += usesByBlocks(user, other, reader.uses);
    if (other->isBeforeInBlock(point))
      point = other;
  }
  if (rows * stride * bytes <= cacheBytes || stride == width ||
      columns < width || uses < fewestUses)
    return std::nullopt;
  Location loc = dot.getLoc();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(point);
  Panels packed{input.getOperandNumber(),
                {},
                {},
                rewriter.getIndexAttr(0),
                rewriter.getIndexAttr(0)};
  PanelSource source(rewriter, matrix);
  auto write = [&](OpBuilder &b, OpFoldResult offset, Value to) {
    packed.copies.push_back(source.write(b, loc, offset, to));
    return packed.copies.back()->getResult(0);
  };
  bool inBlocks = point->getParentOfType<scf::ForallOp>() != nullptr;
  auto type3 = RankedTensorType::get(
      {(columns + width - 1) / width, rows, width}, type.getElementType());
  if (columns == width && inBlocks) {
    // The one panel is the matrix without its gaps. As a part of a tensor of
    // panels that a loop around it does not change, it would be copied.
    Value panel = tensor::EmptyOp::create(
        rewriter, loc, ArrayRef<int64_t>{rows, width}, type.getElementType());
    packed.tensor = tensor::ExpandShapeOp::create(
        rewriter, loc, type3, write(rewriter, rewriter.getIndexAttr(0), panel),
        ArrayRef<ReassociationIndices>{{0, 1}, {2}});
    source.finish(rewriter);
    return packed;
  }
  packed.tensor = fillPanels(rewriter, loc, type3, columns, inBlocks, write);
  source.finish(rewriter);
  return packed;
}

} // namespace drawloom::cpu
