//===- RowTiling.h - tiles of ops on rows -----------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements RowwiseOpInterface's requirements for an op with one result, whose
// rows are those of its operand `x`.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_INTERFACES_ROWTILING_H
#define DRAWLOOM_DIALECTS_INTERFACES_ROWTILING_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/TilingInterface.h"

namespace drawloom {

/// Tiles an op by a single loop over rows; in every row operand and in the
/// result, rows are dimension 0 and other dimensions are whole.
template <typename Op> struct RowTiling {
  static ::llvm::SmallVector<::mlir::Range> domain(Op op,
                                                   ::mlir::OpBuilder &b) {
    return {{b.getIndexAttr(0),
             ::mlir::tensor::getMixedSize(b, op.getLoc(), op.getX(), 0),
             b.getIndexAttr(1)}};
  }

  static ::mlir::TilingResult tile(Op op, ::mlir::OpBuilder &b,
                                   ::mlir::OpFoldResult offset,
                                   ::mlir::OpFoldResult size) {
    ::mlir::TilingResult result;
    ::llvm::SmallVector<::mlir::Value> operands;
    for (::mlir::OpOperand &operand : op->getOpOperands()) {
      if (!op.isRowOperand(operand.getOperandNumber())) {
        operands.push_back(operand.get());
        continue;
      }
      auto sizes = ::mlir::tensor::getMixedSizes(b, op.getLoc(), operand.get());
      sizes[0] = size;
      ::llvm::SmallVector<::mlir::OpFoldResult> offsets(sizes.size(),
                                                        b.getIndexAttr(0)),
          strides(sizes.size(), b.getIndexAttr(1));
      offsets[0] = offset;
      auto slice = ::mlir::tensor::ExtractSliceOp::create(
          b, op.getLoc(), operand.get(), offsets, sizes, strides);
      result.generatedSlices.push_back(slice);
      operands.push_back(slice);
    }
    auto type =
        ::mlir::cast<::mlir::RankedTensorType>(op->getResult(0).getType());
    auto tileType = ::mlir::RankedTensorType::get(
        {::mlir::getConstantIntValue(size).value_or(
             ::mlir::ShapedType::kDynamic),
         type.getDimSize(1)},
        type.getElementType());
    ::mlir::Operation *tiled = mlir::clone(b, op, tileType, operands);
    result.tiledOps.push_back(tiled);
    result.tiledValues.push_back(tiled->getResult(0));
    return result;
  }

  static void position(Op op, ::mlir::OpBuilder &b,
                       ::llvm::ArrayRef<::mlir::OpFoldResult> offsets,
                       ::llvm::ArrayRef<::mlir::OpFoldResult> sizes,
                       ::llvm::SmallVector<::mlir::OpFoldResult> &resultOffsets,
                       ::llvm::SmallVector<::mlir::OpFoldResult> &resultSizes) {
    auto type =
        ::mlir::cast<::mlir::RankedTensorType>(op->getResult(0).getType());
    resultOffsets = {offsets[0], b.getIndexAttr(0)};
    resultSizes = {sizes[0], b.getIndexAttr(type.getDimSize(1))};
  }

  /// Only whole rows of the result can be computed.
  static ::mlir::LogicalResult
  domainOfResult(Op op, ::llvm::ArrayRef<::mlir::OpFoldResult> offsets,
                 ::llvm::ArrayRef<::mlir::OpFoldResult> sizes,
                 ::llvm::SmallVectorImpl<::mlir::OpFoldResult> &domainOffsets,
                 ::llvm::SmallVectorImpl<::mlir::OpFoldResult> &domainSizes) {
    auto type =
        ::mlir::cast<::mlir::RankedTensorType>(op->getResult(0).getType());
    if (!::mlir::isConstantIntValue(offsets[1], 0) ||
        !::mlir::isConstantIntValue(sizes[1], type.getDimSize(1)))
      return ::mlir::failure();
    domainOffsets.assign({offsets[0]});
    domainSizes.assign({sizes[0]});
    return ::mlir::success();
  }

  static ::mlir::LogicalResult
  reify(Op op, ::mlir::OpBuilder &b,
        ::mlir::ReifiedRankedShapedTypeDims &shapes) {
    auto type =
        ::mlir::cast<::mlir::RankedTensorType>(op->getResult(0).getType());
    shapes.push_back(
        {::mlir::tensor::getMixedSize(b, op.getLoc(), op.getX(), 0),
         b.getIndexAttr(type.getDimSize(1))});
    return ::mlir::success();
  }
};

/// If an operand is a cast that forgets the number of rows, applies the op to
/// the cast's source instead: casts move behind the op until they meet their
/// inverses.
template <typename Op> struct RememberRows : ::mlir::OpRewritePattern<Op> {
  using ::mlir::OpRewritePattern<Op>::OpRewritePattern;
  ::mlir::LogicalResult
  matchAndRewrite(Op op, ::mlir::PatternRewriter &rewriter) const override {
    auto resultType =
        ::mlir::cast<::mlir::RankedTensorType>(op->getResult(0).getType());
    if (!resultType.isDynamicDim(0))
      return ::mlir::failure();
    int64_t rows = ::mlir::ShapedType::kDynamic;
    for (::mlir::OpOperand &operand : op->getOpOperands())
      if (op.isRowOperand(operand.getOperandNumber()))
        if (auto forgets =
                operand.get().getDefiningOp<::mlir::tensor::CastOp>())
          if (auto type = ::mlir::dyn_cast<::mlir::RankedTensorType>(
                  forgets.getSource().getType());
              type && !type.isDynamicDim(0))
            rows = type.getDimSize(0);
    if (::mlir::ShapedType::isDynamic(rows))
      return ::mlir::failure();

    auto withRows = [&](::mlir::RankedTensorType type) {
      ::llvm::SmallVector<int64_t> shape(type.getShape());
      shape[0] = rows;
      return type.clone(shape);
    };
    ::llvm::SmallVector<::mlir::Value> operands;
    for (::mlir::OpOperand &operand : op->getOpOperands()) {
      ::mlir::Value value = operand.get();
      if (op.isRowOperand(operand.getOperandNumber()))
        value = ::mlir::tensor::CastOp::create(
            rewriter, op.getLoc(),
            withRows(::mlir::cast<::mlir::RankedTensorType>(value.getType())),
            value);
      operands.push_back(value);
    }
    auto known = Op::create(rewriter, op.getLoc(),
                            ::mlir::TypeRange(withRows(resultType)), operands,
                            op->getAttrs());
    rewriter.replaceOpWithNewOp<::mlir::tensor::CastOp>(op, resultType,
                                                        known->getResult(0));
    return ::mlir::success();
  }
};

} // namespace drawloom

/// Declares the methods of TilingInterface and
/// ReifyRankedShapedTypeOpInterface.
#define DRAWLOOM_TILE_ROWS(Op)                                                 \
  ::llvm::SmallVector<::mlir::utils::IteratorType>                             \
  Op::getLoopIteratorTypes() {                                                 \
    return {::mlir::utils::IteratorType::parallel};                            \
  }                                                                            \
  ::llvm::SmallVector<::mlir::Range> Op::getIterationDomain(                   \
      ::mlir::OpBuilder &b) {                                                  \
    return ::drawloom::RowTiling<Op>::domain(*this, b);                        \
  }                                                                            \
  ::mlir::FailureOr<::mlir::TilingResult> Op::getTiledImplementation(          \
      ::mlir::OpBuilder &b, ::llvm::ArrayRef<::mlir::OpFoldResult> offsets,    \
      ::llvm::ArrayRef<::mlir::OpFoldResult> sizes) {                          \
    return ::drawloom::RowTiling<Op>::tile(*this, b, offsets[0], sizes[0]);    \
  }                                                                            \
  ::mlir::LogicalResult Op::getResultTilePosition(                             \
      ::mlir::OpBuilder &b, unsigned,                                          \
      ::llvm::ArrayRef<::mlir::OpFoldResult> offsets,                          \
      ::llvm::ArrayRef<::mlir::OpFoldResult> sizes,                            \
      ::llvm::SmallVector<::mlir::OpFoldResult> &resultOffsets,                \
      ::llvm::SmallVector<::mlir::OpFoldResult> &resultSizes) {                \
    ::drawloom::RowTiling<Op>::position(*this, b, offsets, sizes,              \
                                        resultOffsets, resultSizes);           \
    return ::mlir::success();                                                  \
  }                                                                            \
  ::mlir::LogicalResult Op::getIterationDomainTileFromResultTile(              \
      ::mlir::OpBuilder &b, unsigned,                                          \
      ::llvm::ArrayRef<::mlir::OpFoldResult> offsets,                          \
      ::llvm::ArrayRef<::mlir::OpFoldResult> sizes,                            \
      ::llvm::SmallVectorImpl<::mlir::OpFoldResult> &domainOffsets,            \
      ::llvm::SmallVectorImpl<::mlir::OpFoldResult> &domainSizes) {            \
    return ::drawloom::RowTiling<Op>::domainOfResult(                          \
        *this, offsets, sizes, domainOffsets, domainSizes);                    \
  }                                                                            \
  ::mlir::FailureOr<::mlir::TilingResult> Op::generateResultTileValue(         \
      ::mlir::OpBuilder &b, unsigned resultNumber,                             \
      ::llvm::ArrayRef<::mlir::OpFoldResult> offsets,                          \
      ::llvm::ArrayRef<::mlir::OpFoldResult> sizes) {                          \
    ::llvm::SmallVector<::mlir::OpFoldResult> rowOffset, rowSize;              \
    if (::mlir::failed(getIterationDomainTileFromResultTile(                   \
            b, resultNumber, offsets, sizes, rowOffset, rowSize)))             \
      return ::mlir::failure();                                                \
    return ::drawloom::RowTiling<Op>::tile(*this, b, rowOffset[0],             \
                                           rowSize[0]);                        \
  }                                                                            \
  ::mlir::LogicalResult Op::reifyResultShapes(                                 \
      ::mlir::OpBuilder &b, ::mlir::ReifiedRankedShapedTypeDims &shapes) {     \
    return ::drawloom::RowTiling<Op>::reify(*this, b, shapes);                 \
  }

#endif // DRAWLOOM_DIALECTS_INTERFACES_ROWTILING_H
