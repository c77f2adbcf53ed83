//===- Transposes.cpp - transpositions in registers -----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/vectors/Transposes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace drawloom::cpu {
namespace {

/// The rows of the matrix whose columns are `columns`, of as many elements as
/// there are of them. Each round interleaves the first half of the vectors with
/// the second one, which moves the leading digit of an element's binary row to
/// the end of its column.
SmallVector<Value> transposeSquare(OpBuilder &b, Location loc,
                                   SmallVector<Value> columns) {
  int64_t n = columns.size();
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < n / 2; ++i) {
    low.append({i, n + i});
    high.append({n / 2 + i, n + n / 2 + i});
  }
  for (int64_t round = 1; round < n; round *= 2) {
    SmallVector<Value> next;
    for (int64_t i = 0; i < n / 2; ++i)
      for (ArrayRef<int64_t> half : {low, high})
        next.push_back(vector::ShuffleOp::create(b, loc, columns[i],
                                                 columns[n / 2 + i], half));
    columns = std::move(next);
  }
  return columns;
}

/// The vector whose copies are the rows of `matrix`; null if it has others.
Value repeatedRow(Value matrix) {
  auto broadcast = matrix.getDefiningOp<vector::BroadcastOp>();
  if (!broadcast)
    return {};
  // One of one element may be repeated within rows, too.
  auto source = dyn_cast<VectorType>(broadcast.getSourceType());
  return source && source.getRank() == 1 &&
                 source.getShape() ==
                     broadcast.getResultVectorType().getShape().drop_front()
             ? broadcast.getSource()
             : Value();
}

struct TransposeByRows : OpRewritePattern<vector::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::TransposeOp op,
                                PatternRewriter &rewriter) const override {
    VectorType type = op.getResultVectorType();
    if (type.isScalable() || op.getPermutation() != ArrayRef<int64_t>{1, 0})
      return failure();
    Location loc = op.getLoc();
    int64_t height = type.getDimSize(0), width = type.getDimSize(1);
    SmallVector<Value> rows;
    if (Value row = repeatedRow(op.getVector())) {
      // One element each.
      for (int64_t i = 0; i < height; ++i)
        rows.push_back(vector::BroadcastOp::create(
            rewriter, loc, VectorType::get({width}, type.getElementType()),
            vector::ExtractOp::create(rewriter, loc, row, i)));
    } else if (height == width && width > 1 && llvm::isPowerOf2_64(width)) {
      for (int64_t i = 0; i < width; ++i)
        rows.push_back(
            vector::ExtractOp::create(rewriter, loc, op.getVector(), i));
      rows = transposeSquare(rewriter, loc, std::move(rows));
    } else {
      return failure();
    }
    Value matrix =
        arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
    for (auto [i, row] : llvm::enumerate(rows))
      matrix = vector::InsertOp::create(rewriter, loc, row, matrix, i);
    rewriter.replaceOp(op, matrix);
    return success();
  }
};

} // namespace

LogicalResult transposeByRows(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  vector::populateVectorTransferPermutationMapLoweringPatterns(patterns);
  patterns.add<TransposeByRows>(module.getContext());
  return applyPatternsGreedily(module, std::move(patterns));
}

} // namespace drawloom::cpu
