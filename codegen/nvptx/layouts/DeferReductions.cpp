//===- DeferReductions.cpp - sums across threads behind their loop -------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sum that a loop carries, and to which each iteration adds a reduced tile,
// needs the other threads' shares only when the loop has ended. Until then each
// thread keeps its own share, in as many registers.
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/shared/SharedMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXDEFERREDUCTIONS
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;
using drawloom::tile::Layout;

namespace drawloom::nvptx {

/// The layout and shape of what each thread holds after reducing its own
/// registers along `dims`.
static RankedTensorType ownShares(RankedTensorType type,
                                  ArrayRef<int64_t> dims) {
  Layout shares = tile::layoutOf(type)->sharesAlong(dims);
  SmallVector<int64_t> shape(type.getShape()),
      extents = shares.extents(type.getRank());
  for (int64_t dim : dims)
    shape[dim] = extents[dim];
  return tile::withLayout(RankedTensorType::get(shape, type.getElementType()),
                          shares);
}

/// The reduction whose result is added to the carried sum `i`, if that is all
/// that happens to it.
static tile::ReduceOp addedReduction(scf::ForOp loop, unsigned i) {
  BlockArgument carried = loop.getRegionIterArg(i);
  auto add = loop.getYieldedValues()[i].getDefiningOp<arith::AddFOp>();
  if (!carried.hasOneUse() || !add || !add->hasOneUse() ||
      add->getBlock() != loop.getBody())
    return {};
  Value term = add.getLhs() == carried   ? add.getRhs()
               : add.getRhs() == carried ? add.getLhs()
                                         : Value();
  auto reduce = term ? term.getDefiningOp<tile::ReduceOp>() : nullptr;
  if (!reduce || !reduce->hasOneUse() || reduce->getBlock() != loop.getBody() ||
      reduce.getKind() != tile::Combiner::Add || reduce.getWithinThread())
    return {};
  return reduce;
}

/// Registers that the sums of one loop may take.
static constexpr int64_t mostSumRegisters = 96;

/// Keeps each thread's own share of a sum until the loop has ended.
static void carryShares(OpBuilder &builder, scf::ForOp loop, unsigned i,
                        tile::ReduceOp reduce) {
  auto source = cast<RankedTensorType>(reduce.getSource().getType());
  auto result = cast<RankedTensorType>(reduce.getResult().getType());
  RankedTensorType shares = ownShares(source, reduce.getDims());
  SmallVector<int64_t> dims(reduce.getDims());
  Location loc = reduce.getLoc();

  builder.setInsertionPoint(loop);
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(source.getElementType()));
  Value init = loop.getInitArgs()[i];
  loop.getInitArgsMutable()[i].set(
      tile::SplatOp::create(builder, loc, shares, zero));
  BlockArgument carried = loop.getRegionIterArg(i);
  carried.setType(shares);

  auto add = loop.getYieldedValues()[i].getDefiningOp<arith::AddFOp>();
  builder.setInsertionPoint(add);
  Value own = tile::ReduceOp::create(builder, loc, shares, reduce.getKind(),
                                     /*withinThread=*/true, reduce.getSource(),
                                     dims, Value());
  Value sum = arith::AddFOp::create(builder, loc, carried, own);
  add.replaceAllUsesWith(sum);
  add.erase();
  reduce.erase();

  Value total = loop.getResult(i);
  total.setType(shares);
  builder.setInsertionPointAfter(loop);
  Value whole =
      tile::ReduceOp::create(builder, loc, result, tile::Combiner::Add,
                             /*withinThread=*/false, total, dims, Value());
  Value end = arith::AddFOp::create(builder, loc, init, whole);
  total.replaceAllUsesExcept(end, whole.getDefiningOp());
}

/// Spreads a sum over all threads, instead of giving each a copy.
static void carrySpread(OpBuilder &builder, scf::ForOp loop, unsigned i,
                        tile::ReduceOp reduce) {
  auto type = cast<RankedTensorType>(reduce.getResult().getType());
  Location loc = reduce.getLoc();
  RankedTensorType spread = tile::withLayout(
      type, tile::blockedLayout(type.getShape(), 1,
                                tile::layoutOf(type)->warpCount()));
  builder.setInsertionPoint(loop);
  OpOperand &init = loop.getInitArgsMutable()[i];
  init.set(tile::ConvertOp::create(builder, loc, spread, init.get()));
  BlockArgument carried = loop.getRegionIterArg(i);
  carried.setType(spread);
  auto add = loop.getYieldedValues()[i].getDefiningOp<arith::AddFOp>();
  builder.setInsertionPoint(add);
  Value term =
      tile::ConvertOp::create(builder, loc, spread, reduce.getResult());
  Value sum = arith::AddFOp::create(builder, loc, carried, term);
  add.replaceAllUsesWith(sum);
  add.erase();
  Value total = loop.getResult(i);
  total.setType(spread);
  builder.setInsertionPointAfter(loop);
  Value copies = tile::ConvertOp::create(builder, loc, type, total);
  total.replaceAllUsesExcept(copies, copies.getDefiningOp());
}

static void deferReductions(OpBuilder &builder, func::FuncOp kernel) {
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops) {
    SmallVector<std::pair<unsigned, tile::ReduceOp>> sums;
    int64_t shares = 0;
    for (unsigned i = 0; i < loop.getNumResults(); ++i)
      if (tile::ReduceOp reduce = addedReduction(loop, i)) {
        sums.push_back({i, reduce});
        auto source = cast<RankedTensorType>(reduce.getSource().getType());
        shares += tile::layoutOf(ownShares(source, reduce.getDims()))
                      ->registerCount();
      }
    for (auto [i, reduce] : sums) {
      if (shares <= mostSumRegisters)
        carryShares(builder, loop, i, reduce);
      else
        carrySpread(builder, loop, i, reduce);
    }
  }
}

namespace {
struct NvptxDeferReductions
    : impl::NvptxDeferReductionsBase<NvptxDeferReductions> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    if (isKernel(getOperation()))
      deferReductions(builder, getOperation());
  }
};
} // namespace

} // namespace drawloom::nvptx
