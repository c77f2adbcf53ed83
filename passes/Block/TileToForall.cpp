//===- TileToForall.cpp - large parallel ops become block programs -------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Block/Inits.h"
#include "passes/Block/Passes.h"
#include "passes/Block/Products.h"

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_TILETOFORALL
#include "passes/Block/Passes.h.inc"

namespace {

struct TileToForall : impl::TileToForallBase<TileToForall> {
  using TileToForallBase::TileToForallBase;

  void runOnOperation() override {
    if (getOperation().isExternal() || isOpaque(getOperation()))
      return;
    // In blocks, an argument that is updated in place would be copied whole
    // before the first of them, and its result after the last.
    IRRewriter rewriter(&getContext());
    for (auto generic : llvm::make_early_inc_range(
             getOperation().getBody().front().getOps<linalg::GenericOp>()))
      readInitsAsInputs(rewriter, generic, isFunctionArgument);
    SmallVector<linalg::LinalgOp> ops;
    for (Operation &op : getOperation().getBody().front())
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(&op))
        ops.push_back(linalgOp);
    for (linalg::LinalgOp op : ops)
      if (!joinBlocks(op) && (pieceIterations == 0 || !joinSums(op)) &&
          failed(distribute(op)))
        return signalPassFailure();
  }

  /// Whether blocks write all of a result, in parts of as many dimensions.
  static bool isWrittenWhole(scf::ForallOp loop, OpResult result) {
    BlockArgument whole =
        loop.getTiedBlockArgument(loop.getTiedOpOperand(result));
    int64_t blocks = 1;
    for (auto [lo, hi, by] :
         llvm::zip_equal(loop.getMixedLowerBound(), loop.getMixedUpperBound(),
                         loop.getMixedStep())) {
      std::optional<APInt> count = constantTripCount(
          lo, hi, by, /*isSigned=*/true, scf::computeUbMinusLb);
      if (!count)
        return false;
      blocks *= count->getSExtValue();
    }
    SmallVector<Operation *> inserts = loop.getCombiningOps(whole);
    if (inserts.size() != 1)
      return false;
    // Blocks' parts do not overlap: they are all of it if they are as many.
    auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(inserts.front());
    return insert && insert.getSourceType().hasStaticShape() &&
           insert.getSourceType().getRank() == insert.getDestType().getRank() &&
           insert.getSourceType().getNumElements() * blocks ==
               insert.getDestType().getNumElements();
  }

  /// An elementwise op that reads, as its only reader, what blocks have just
  /// made (an optimizer's update its gradient) is computed in those blocks.
  static bool joinBlocks(linalg::LinalgOp op) {
    if (op.getNumParallelLoops() != op.getNumLoops())
      return false;
    for (OpOperand *input : op.getDpsInputOperands()) {
      auto loop = input->get().getDefiningOp<scf::ForallOp>();
      if (!loop || loop->getBlock() != op->getBlock() ||
          !input->get().hasOneUse() ||
          !op.getMatchingIndexingMap(input).isIdentity() ||
          !isWrittenWhole(loop, cast<OpResult>(input->get())))
        continue;
      IRRewriter rewriter(op);
      SmallVector<LoopLikeOpInterface> loops{loop};
      return succeeded(scf::tileAndFuseConsumer(rewriter, op, loops));
    }
    return false;
  }

  /// How many steps a loop has at most, where it goes over the first parts of
  /// an array; 1 where nobody says.
  static int64_t mostTerms(linalg::LinalgOp op, unsigned loop) {
    for (OpOperand *input : op.getDpsInputOperands()) {
      auto slice = input->get().getDefiningOp<tensor::ExtractSliceOp>();
      if (!slice ||
          slice.getType().getRank() != slice.getSourceType().getRank())
        continue;
      for (auto [dim, index] :
           llvm::enumerate(op.getMatchingIndexingMap(input).getResults()))
        if (index == getAffineDimExpr(loop, op.getContext()) &&
            !slice.getSourceType().isDynamicDim(dim))
          return slice.getSourceType().getDimSize(dim);
    }
    return 1;
  }

  /// What adds as many more terms as there are onto a sum that blocks have just
  /// made (those of the rest of open rows) does so in these blocks.
  static bool joinSums(linalg::LinalgOp op) {
    if (op->getNumResults() != 1 ||
        llvm::none_of(op.getStaticLoopRanges(), ShapedType::isDynamic))
      return false;
    OpOperand &init = op.getDpsInitsMutable()[0];
    auto loop = init.get().getDefiningOp<scf::ForallOp>();
    if (!loop || loop->getBlock() != op->getBlock() ||
        !init.get().hasOneUse() ||
        !isWrittenWhole(loop, cast<OpResult>(init.get())))
      return false;
    AffineMap map = op.getMatchingIndexingMap(&init);
    bool isThere = llvm::all_of(op.getDpsInputs(), [&](Value input) {
      Operation *def = input.getDefiningOp();
      return !def || def->isBeforeInBlock(loop);
    });
    if (!isThere || !map.isProjectedPermutation())
      return false;
    auto result = cast<OpResult>(init.get());
    auto insert = cast<tensor::ParallelInsertSliceOp>(
        loop.getCombiningOps(
                loop.getTiedBlockArgument(loop.getTiedOpOperand(result)))
            .front());
    IRRewriter rewriter(loop.getTerminator());
    auto tiling = cast<TilingInterface>(op.getOperation());
    SmallVector<OpFoldResult> offsets, sizes;
    for (const Range &range : tiling.getIterationDomain(rewriter)) {
      offsets.push_back(range.offset);
      sizes.push_back(range.size);
      // Made in front of the op, behind the blocks that are to know it.
      auto size = dyn_cast<Value>(range.size);
      auto dim = size ? size.getDefiningOp<tensor::DimOp>() : nullptr;
      if (dim && loop->isBeforeInBlock(dim)) {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.setInsertionPoint(loop);
        sizes.back() = tensor::getMixedSize(
            rewriter, op.getLoc(), dim.getSource(), *dim.getConstantIndex());
      }
    }
    for (auto [i, offset, size] :
         llvm::enumerate(insert.getMixedOffsets(), insert.getMixedSizes())) {
      offsets[map.getDimPosition(i)] = offset;
      sizes[map.getDimPosition(i)] = size;
    }
    FailureOr<TilingResult> tiled =
        tiling.getTiledImplementation(rewriter, offsets, sizes);
    if (failed(tiled) || tiled->tiledOps.size() != 1)
      return false;
    auto made = cast<DestinationStyleOpInterface>(tiled->tiledOps.front());
    Operation *whole = made.getDpsInits()[0].getDefiningOp();
    made.getDpsInitsMutable()[0].set(insert.getSource());
    if (whole && llvm::is_contained(tiled->generatedSlices, whole))
      rewriter.eraseOp(whole);
    insert.getSourceMutable().assign(made->getResult(0));
    rewriter.replaceOp(op, result);
    return true;
  }

  LogicalResult distribute(linalg::LinalgOp op) {
    // A fill belongs to the op that it initialises.
    if (isa<linalg::FillOp>(op.getOperation()))
      return success();
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    // Sums of blocks' results, of which there may be one: then several threads
    // are worth it where its elements alone are. Blocks that share a launch
    // cost nothing: there it is as many as there may be.
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    for (auto [loop, range] : llvm::enumerate(ranges))
      if (ShapedType::isDynamic(range)) {
        if (linalg::isParallelIterator(kinds[loop]))
          return success();
        range = pieceIterations > 0 ? mostTerms(op, loop) : 1;
      }
    int64_t iterations = 1;
    for (int64_t range : ranges)
      iterations *= range;
    if (iterations < minIterations)
      return success();
    SmallVector<OpFoldResult> pieces = piecesOfProduct(op, ranges);
    if (!pieces.empty())
      return tile(op, pieces);
    pieces.assign(ranges.size(), Builder(op).getIndexAttr(0));
    SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
    int64_t wanted = maxBlocks;
    if (pieceIterations > 0)
      wanted = std::min<int64_t>(wanted,
                                 llvm::divideCeil(iterations, pieceIterations));
    bool cut = false;
    for (auto [loop, range] : llvm::enumerate(ranges)) {
      if (!linalg::isParallelIterator(iterators[loop]) || range == 1 ||
          wanted == 1)
        continue;
      int64_t blocks = std::min<int64_t>(wanted, range);
      // As many as divide the extent: at most those wanted, or, where pieces
      // must be small, at least.
      while (range % blocks)
        blocks += pieceIterations > 0 ? 1 : -1;
      if (blocks == 1)
        continue;
      pieces[loop] = Builder(op).getIndexAttr(range / blocks);
      cut = true;
      if (pieceIterations == 0)
        break;
      wanted = llvm::divideCeil(wanted, blocks);
    }
    if (cut)
      return tile(op, pieces);
    return success();
  }

  /// A matrix product is cut along both sides: enough rows in a piece that what
  /// is read for its columns is used often, and columns where there are few
  /// such pieces. Nothing for other ops.
  SmallVector<OpFoldResult> piecesOfProduct(linalg::LinalgOp op,
                                            ArrayRef<int64_t> ranges) {
    if (!linalg::isaContractionOpInterface(op))
      return {};
    FailureOr<linalg::ContractionDimensions> dims =
        linalg::inferContractionDims(op);
    bool isBatch = succeeded(dims) && dims->batch.size() == 1;
    if (failed(dims) || dims->batch.size() > 1 || dims->m.size() != 1 ||
        dims->n.size() != 1 || (isBatch && pieceIterations == 0))
      return {};
    constexpr int64_t rows = 128, fewRows = 64, columns = 128, enough = 16;
    auto largestDivisor = [](int64_t extent, int64_t most) {
      most = std::min(most, extent);
      while (extent % most)
        --most;
      return most;
    };
    unsigned m = dims->m.front(), n = dims->n.front();
    // Small pieces hold their sums in registers, a row of 64 or a few wider,
    // and what they read of few columns in a block's memory.
    if (pieceIterations > 0) {
      constexpr int64_t sums = 64 * 64, maxRows = 256;
      int64_t columnPiece = largestDivisor(ranges[n], fewRows);
      // An extent without such divisors stays whole, if it is not too long.
      if (columnPiece < 16 && ranges[n] <= sums / 16)
        columnPiece = ranges[n];
      int64_t rowPiece = largestDivisor(
          ranges[m], std::clamp<int64_t>(sums / columnPiece, fewRows, maxRows));
      SmallVector<OpFoldResult> pieces(ranges.size(),
                                       Builder(op).getIndexAttr(0));
      pieces[m] = Builder(op).getIndexAttr(rowPiece);
      pieces[n] = Builder(op).getIndexAttr(columnPiece);
      if (isBatch)
        pieces[dims->batch.front()] = Builder(op).getIndexAttr(1);
      return pieces;
    }
    bool many = ranges[m] >= fewRows * enough && ranges[m] < rows * enough;
    int64_t rowPiece = largestDivisor(ranges[m], many ? fewRows : rows);
    if (rowPiece < std::min<int64_t>(16, ranges[m]))
      return {};
    int64_t columnPiece = ranges[n], blocks = ranges[m] / rowPiece;
    if (blocks < enough)
      columnPiece = largestDivisor(
          ranges[n], std::max(columns, ranges[n] * blocks / enough));
    if (columnPiece < std::min(columns / 2, ranges[n]))
      columnPiece = ranges[n];
    SmallVector<OpFoldResult> pieces(ranges.size(),
                                     Builder(op).getIndexAttr(0));
    pieces[m] = Builder(op).getIndexAttr(rowPiece);
    if (columnPiece < ranges[n])
      pieces[n] = Builder(op).getIndexAttr(columnPiece);
    return pieces;
  }

  /// Sums that start as one number start so in each block: it keeps them in
  /// registers, and would read what one thread had written.
  static void fillInBlocks(IRRewriter &rewriter, scf::SCFTilingResult &tiled) {
    auto loop = dyn_cast<scf::ForallOp>(tiled.loops.front().getOperation());
    auto op = dyn_cast<linalg::LinalgOp>(tiled.tiledOps.front());
    if (!loop || !op)
      return;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      auto slice = init.get().getDefiningOp<tensor::ExtractSliceOp>();
      auto whole =
          slice ? dyn_cast<BlockArgument>(slice.getSource()) : BlockArgument();
      if (!whole || whole.getOwner() != loop.getBody())
        continue;
      OpOperand *given = loop.getTiedOpOperand(whole);
      auto fill = given->get().getDefiningOp<linalg::FillOp>();
      if (!fill)
        continue;
      rewriter.setInsertionPoint(op);
      Value filled = linalg::FillOp::create(rewriter, op.getLoc(),
                                            fill.getInputs(), ValueRange{slice})
                         .getResult(0);
      rewriter.modifyOpInPlace(op, [&] { init.set(filled); });
      rewriter.modifyOpInPlace(loop, [&] { given->set(fill.getOutputs()[0]); });
    }
  }

  LogicalResult tile(linalg::LinalgOp op, ArrayRef<OpFoldResult> sizes) {
    IRRewriter rewriter(op);
    scf::SCFTilingOptions options;
    options.setTileSizes(sizes).setLoopType(
        scf::SCFTilingOptions::LoopType::ForallOp);
    FailureOr<scf::SCFTilingResult> tiled = scf::tileUsingSCF(
        rewriter, cast<TilingInterface>(op.getOperation()), options);
    if (failed(tiled))
      return op->emitOpError("cannot be cut into blocks");
    fillInBlocks(rewriter, *tiled);
    rewriter.replaceOp(op, tiled->replacements);
    return success();
  }
};

} // namespace
} // namespace drawloom
