//===- TileTransfers.cpp - reads and writes of tiles ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/vectors/TileTransfers.h"
#include "codegen/cpu/vectors/Canonicalize.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace drawloom::cpu {
namespace {

/// A tile that a vector covers is written where it is inserted, also where it
/// has dimensions of one element that the vector lacks.
struct WriteWhereInserted : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::InsertSliceOp op,
                                PatternRewriter &rewriter) const override {
    auto write = op.getSource().getDefiningOp<vector::TransferWriteOp>();
    if (!write || write.getMask() || write.hasOutOfBoundsDim() ||
        op.getSourceType().getRank() != op.getDestType().getRank() ||
        !op.hasUnitStride() ||
        !write.getPermutationMap().isProjectedPermutation() ||
        !llvm::all_of(write.getIndices(), [](Value index) {
          return isZeroInteger(getAsOpFoldResult(index));
        }))
      return failure();
    AffineMap map = write.getPermutationMap();
    for (auto [dim, extent] : llvm::enumerate(op.getSourceType().getShape())) {
      std::optional<unsigned> at =
          map.getResultPosition(rewriter.getAffineDimExpr(dim));
      if (extent != (at ? write.getVectorType().getDimSize(*at) : 1))
        return failure();
    }
    SmallVector<Value> indices = getValueOrCreateConstantIndexOp(
        rewriter, op.getLoc(), op.getMixedOffsets());
    rewriter.replaceOpWithNewOp<vector::TransferWriteOp>(
        op, write.getVector(), op.getDest(), indices,
        write.getPermutationMapAttr(), write.getInBoundsAttr());
    return success();
  }
};

/// A product of vectors without the loops of one step: upstream leaves out only
/// the first, and lowers products with several sums element by element.
struct DropUnitLoops : OpRewritePattern<vector::ContractionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::ContractionOp op,
                                PatternRewriter &rewriter) const override {
    auto acc = dyn_cast<VectorType>(op.getAccType());
    SmallVector<int64_t> extents;
    op.getIterationBounds(extents);
    auto iterators = op.getIteratorTypesArray();
    // One of each kind has to be left.
    SmallVector<int64_t> kept;
    for (auto [loop, extent] : llvm::enumerate(extents))
      if (extent != 1)
        kept.push_back(loop);
    auto isSum = [&](int64_t loop) {
      return iterators[loop] == vector::IteratorType::reduction;
    };
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    // What is taken element by element stays so.
    auto isVector = [](Value operand) {
      return llvm::isPowerOf2_64(
          cast<VectorType>(operand.getType()).getShape().back());
    };
    if (!acc || op.isMasked() || kept.size() == extents.size() ||
        extents.size() <= 3 || !isVector(op.getLhs()) || !isVector(op.getRhs()))
      return failure();
    for (auto [loop, extent] : llvm::enumerate(extents)) {
      bool sum = isSum(loop);
      if (extent == 1 && llvm::none_of(kept, [&](int64_t other) {
            return isSum(other) == sum &&
                   (sum || maps[2].isFunctionOfDim(other));
          })) {
        kept.push_back(loop);
        llvm::sort(kept);
      }
    }
    if (kept.size() == extents.size())
      return failure();
    // Nothing becomes a scalar.
    if (llvm::any_of(maps, [&](AffineMap map) {
          return llvm::none_of(
              kept, [&](int64_t loop) { return map.isFunctionOfDim(loop); });
        }))
      return failure();
    auto reduced = [&](Value value, AffineMap &map) {
      auto type = cast<VectorType>(value.getType());
      SmallVector<int64_t> shape;
      SmallVector<AffineExpr> results;
      for (auto [dim, result] : llvm::enumerate(map.getResults())) {
        auto loop = llvm::find(
            kept, int64_t(cast<AffineDimExpr>(result).getPosition()));
        if (loop == kept.end())
          continue;
        shape.push_back(type.getDimSize(dim));
        results.push_back(rewriter.getAffineDimExpr(loop - kept.begin()));
      }
      map = AffineMap::get(kept.size(), 0, results, rewriter.getContext());
      return rewriter.createOrFold<vector::ShapeCastOp>(
          op.getLoc(), VectorType::get(shape, type.getElementType()), value);
    };
    Value lhs = reduced(op.getLhs(), maps[0]),
          rhs = reduced(op.getRhs(), maps[1]),
          sum = reduced(op.getAcc(), maps[2]);
    SmallVector<Attribute> kinds;
    for (int64_t loop : kept)
      kinds.push_back(op.getIteratorTypes()[loop]);
    Value product = vector::ContractionOp::create(
        rewriter, op.getLoc(), lhs, rhs, sum,
        rewriter.getAffineMapArrayAttr(maps), rewriter.getArrayAttr(kinds),
        op.getKind());
    rewriter.replaceOpWithNewOp<vector::ShapeCastOp>(op, acc, product);
    return success();
  }
};

/// A vector without dimensions is a scalar: its transfers to memory with gaps
/// between elements would have no lowering.
struct ReadScalar : OpRewritePattern<vector::TransferReadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::TransferReadOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getVectorType().getRank() != 0 || op.getMask())
      return failure();
    Value scalar = tensor::ExtractOp::create(rewriter, op.getLoc(),
                                             op.getBase(), op.getIndices());
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(op, op.getVectorType(),
                                                     scalar);
    return success();
  }
};

struct WriteScalar : OpRewritePattern<vector::TransferWriteOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::TransferWriteOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getVectorType().getRank() != 0 || op.getMask())
      return failure();
    Value scalar =
        vector::ExtractOp::create(rewriter, op.getLoc(), op.getVector());
    rewriter.replaceOpWithNewOp<tensor::InsertOp>(op, scalar, op.getBase(),
                                                  op.getIndices());
    return success();
  }
};

} // namespace

LogicalResult foldSlices(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  patterns.add<WriteWhereInserted, DropUnitLoops>(function.getContext());
  tensor::populateFoldTensorSubsetIntoVectorTransferPatterns(patterns);
  vector::populateCastAwayVectorLeadingOneDimPatterns(patterns);
  addCanonicalizationPatterns(patterns);
  return applyPatternsGreedily(function, std::move(patterns));
}

LogicalResult takeScalarsAsSuch(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  patterns.add<ReadScalar, WriteScalar>(function.getContext());
  return applyPatternsGreedily(function, std::move(patterns));
}

} // namespace drawloom::cpu
