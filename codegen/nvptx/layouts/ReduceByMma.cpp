//===- ReduceByMma.cpp - sums of rows as products with ones --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of a bias is the sum of rows that the gradient of its weights
// multiplies as well: dW += h^T dz, db += 1^T dz. As a product with ones it
// reads dz where the other product does, and takes an instruction where adding
// takes sixty; products with one are exact, and the sums are f32 as before.
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/shared/SharedMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXREDUCEBYMMA
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;

namespace drawloom::nvptx {

/// The 16-bit tile whose rows the carried sum `i` adds up, where a product in
/// the loop reads it as well; `add` is what takes them up.
static Value summedRows(scf::ForOp loop, unsigned i, arith::AddFOp &add) {
  add = loop.getYieldedValues()[i].getDefiningOp<arith::AddFOp>();
  BlockArgument carried = loop.getRegionIterArg(i);
  if (!add || !add->hasOneUse() || !carried.hasOneUse() ||
      add->getBlock() != loop.getBody() ||
      (add.getLhs() != carried && add.getRhs() != carried))
    return {};
  Value term = add.getLhs() == carried ? add.getRhs() : add.getLhs();
  auto reduce = term.getDefiningOp<tile::ReduceOp>();
  if (!reduce || reduce.getKind() != tile::Combiner::Add ||
      reduce.getWithinThread() || reduce.getDims() != ArrayRef<int64_t>{0} ||
      reduce->getBlock() != loop.getBody() ||
      !getElementTypeOrSelf(reduce.getResult()).isF32())
    return {};
  auto wide = reduce.getSource().getDefiningOp<arith::ExtFOp>();
  if (!wide)
    return {};
  auto type = dyn_cast<RankedTensorType>(wide.getIn().getType());
  if (!type || type.getRank() != 2 || type.getDimSize(0) % 16 != 0 ||
      !(type.getElementType().isBF16() || type.getElementType().isF16()))
    return {};
  for (Operation *user : wide.getIn().getUsers())
    if (auto dot = dyn_cast<tile::DotOp>(user);
        dot && dot.getB() == wide.getIn() && !dot.getTransposeB())
      return wide.getIn();
  return {};
}

static void reduceByMma(OpBuilder &builder, func::FuncOp kernel) {
  kernel.walk([&](scf::ForOp loop) {
    for (unsigned i = 0; i < loop.getNumResults(); ++i) {
      arith::AddFOp add;
      Value rows = summedRows(loop, i, add);
      if (!rows)
        continue;
      auto type = cast<RankedTensorType>(rows.getType());
      // As many rows of the result as the instruction has, all alike.
      auto sums =
          RankedTensorType::get({16, type.getDimSize(1)}, builder.getF32Type());
      Location loc = add.getLoc();
      builder.setInsertionPoint(loop);
      Value init = loop.getInitArgs()[i];
      Value zero =
          arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
      loop.getInitArgsMutable()[i].set(
          tile::SplatOp::create(builder, loc, sums, zero));
      BlockArgument carried = loop.getRegionIterArg(i);
      carried.setType(sums);

      builder.setInsertionPoint(add);
      Value one = arith::ConstantOp::create(
          builder, loc, builder.getFloatAttr(type.getElementType(), 1));
      Value ones =
          tile::SplatOp::create(builder, loc,
                                RankedTensorType::get({16, type.getDimSize(0)},
                                                      type.getElementType()),
                                one);
      Operation *reduce =
          (add.getLhs() == carried ? add.getRhs() : add.getLhs())
              .getDefiningOp();
      auto sum = tile::DotOp::create(builder, loc, sums, ones, rows, carried,
                                     /*transposeA=*/false,
                                     /*transposeB=*/false,
                                     /*neighbours=*/IntegerAttr(),
                                     /*tf32=*/false,
                                     /*batch=*/IntegerAttr());
      sum->setAttr(rowsAlikeAttr, builder.getUnitAttr());
      add.replaceAllUsesWith(sum.getResult());
      add.erase();
      Operation *wide = reduce->getOperand(0).getDefiningOp();
      if (reduce->use_empty())
        reduce->erase();
      if (wide->use_empty())
        wide->erase();

      Value total = loop.getResult(i);
      total.setType(sums);
      builder.setInsertionPointAfter(loop);
      Value row = tile::ReduceOp::create(
          builder, loc, cast<RankedTensorType>(init.getType()),
          tile::Combiner::Max, /*withinThread=*/false, total,
          ArrayRef<int64_t>{0}, Value());
      Value end = arith::AddFOp::create(builder, loc, init, row);
      total.replaceAllUsesExcept(end, row.getDefiningOp());
    }
  });
}

namespace {
struct NvptxReduceByMma : impl::NvptxReduceByMmaBase<NvptxReduceByMma> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    if (isKernel(getOperation()))
      reduceByMma(builder, getOperation());
  }
};
} // namespace

} // namespace drawloom::nvptx
