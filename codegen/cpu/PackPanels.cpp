//===- PackPanels.cpp - operands of dots in panels ------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/PackPanels.h"
#include "codegen/cpu/RegisterTiles.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
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

namespace {
/// Columns of the matrix on their way into a panel.
struct PanelCopy {
  PanelCopy(OpBuilder &b, Location loc, Value matrix, Value panels,
            OpFoldResult panel, OpFoldResult offset, int64_t size) {
    auto type = cast<RankedTensorType>(matrix.getType());
    OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1),
                 rows = b.getIndexAttr(type.getDimSize(0)),
                 columns = b.getIndexAttr(size);
    auto part = RankedTensorType::get({type.getDimSize(0), size},
                                      type.getElementType());
    Value from = tensor::ExtractSliceOp::create(
        b, loc, part, matrix, {zero, offset}, {rows, columns}, {one, one});
    at = {panel, zero, zero};
    extent = {one, rows, columns};
    strides = {one, one, one};
    Value to = tensor::ExtractSliceOp::create(b, loc, part, panels, at, extent,
                                              strides);
    copy =
        cast<LinalgOp>(linalg::CopyOp::create(b, loc, from, to).getOperation());
  }
  LinalgOp copy;
  SmallVector<OpFoldResult> at, extent, strides;
};
} // namespace

/// Elements from one row of a matrix to the next.
static int64_t rowStride(Value matrix) {
  while (auto slice = matrix.getDefiningOp<tensor::ExtractSliceOp>())
    matrix = slice.getSource();
  return cast<RankedTensorType>(matrix.getType()).getShape().back();
}

std::optional<Panels> packPanels(RewriterBase &rewriter, LinalgOp dot,
                                 OpOperand &input, int64_t width,
                                 int64_t uses) {
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
  for (Operation *outer = dot; outer != point; outer = outer->getParentOp())
    if (auto forall = dyn_cast<scf::ForallOp>(outer->getParentOp()))
      for (auto [lo, hi, by] :
           llvm::zip_equal(forall.getMixedLowerBound(),
                           forall.getMixedUpperBound(), forall.getMixedStep()))
        if (auto count = constantTripCount(lo, hi, by, /*isSigned=*/true,
                                           scf::computeUbMinusLb))
          uses *= count->getSExtValue();
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
  Value panels = tensor::EmptyOp::create(
      rewriter, loc,
      ArrayRef<int64_t>{(columns + width - 1) / width, rows, width},
      type.getElementType());
  int64_t whole = columns / width;
  auto keep = [&](PanelCopy &part) { packed.copies.push_back(part.copy); };
  auto offsetOf = [&](OpBuilder &b, Value panel) {
    return affine::makeComposedFoldedAffineApply(
        b, loc, b.getAffineDimExpr(0) * width, {panel});
  };
  if (point->getParentOfType<scf::ForallOp>()) {
    auto bound = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(rewriter, loc, value);
    };
    panels =
        scf::ForOp::create(
            rewriter, loc, bound(0), bound(whole), bound(1), panels,
            [&](OpBuilder &b, Location, Value panel, ValueRange into) {
              PanelCopy part(b, loc, matrix, into[0], panel, offsetOf(b, panel),
                             width);
              keep(part);
              scf::YieldOp::create(b, loc,
                                   tensor::InsertSliceOp::create(
                                       b, loc, part.copy->getResult(0), into[0],
                                       part.at, part.extent, part.strides)
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
              PanelCopy part(b, loc, matrix, arguments[1], arguments[0],
                             offsetOf(b, arguments[0]), width);
              keep(part);
              auto end = scf::InParallelOp::create(b, loc);
              b.setInsertionPointToStart(end.getBody());
              tensor::ParallelInsertSliceOp::create(
                  b, loc, part.copy->getResult(0), arguments[1], part.at,
                  part.extent, part.strides);
            })
            .getResult(0);
  }
  if (int64_t rest = columns % width) {
    PanelCopy part(rewriter, loc, matrix, panels, rewriter.getIndexAttr(whole),
                   rewriter.getIndexAttr(whole * width), rest);
    keep(part);
    panels = tensor::InsertSliceOp::create(rewriter, loc,
                                           part.copy->getResult(0), panels,
                                           part.at, part.extent, part.strides);
  }
  packed.tensor = panels;
  return packed;
}

} // namespace drawloom::cpu
