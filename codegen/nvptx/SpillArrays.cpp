//===- SpillArrays.cpp - arrays of tiles in global memory -----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block may keep an array of tiles, one for each step of a loop, which a
// later loop reads: the states of a recurrence, for its gradient. It grows with
// the number of steps, so no shared memory is large enough. It becomes one more
// result of the block program that nobody reads: global memory, of which each
// block has its part.
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXSPILLARRAYS
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;

namespace drawloom::nvptx {
namespace {

/// What an array of tiles has become after its last change; null where `value`
/// is used as something else. Each version has one change or is read by slices.
Value lastVersion(Value value) {
  while (true) {
    Value next;
    bool yielded = false;
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (isa<tensor::ExtractSliceOp>(user))
        continue;
      if (next)
        return {};
      if (auto insert = dyn_cast<tensor::InsertSliceOp>(user)) {
        if (use.get() != insert.getDest() || insert.getSource() == value)
          return {};
        next = insert.getResult();
      } else if (auto loop = dyn_cast<scf::ForOp>(user)) {
        if (use.getOperandNumber() < loop.getNumControlOperands())
          return {};
        // Inside of the loop, too.
        Value end = lastVersion(loop.getTiedLoopRegionIterArg(&use));
        if (!end || !llvm::is_contained(loop.getYieldedValues(), end) ||
            loop.getTiedLoopYieldedValue(loop.getTiedLoopRegionIterArg(&use))
                    ->get() != end)
          return {};
        next = loop.getTiedLoopResult(&use);
      } else if (isa<scf::YieldOp>(user) && !yielded) {
        yielded = true;
      } else {
        return {};
      }
    }
    if (!next)
      return value;
    if (yielded)
      return {};
    value = next;
  }
}

/// Whether `op` begins an array that shared memory should not be filled with.
bool isLargeArray(tensor::EmptyOp op, int64_t limit) {
  RankedTensorType type = op.getType();
  if (!type.hasStaticShape() || type.getRank() < 3 ||
      !type.getElementType().isIntOrFloat())
    return false;
  int64_t bytes =
      type.getNumElements() *
      llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
  return bytes > limit;
}

/// `forall` with one more result, of which each block has a part in place of
/// `array`.
scf::ForallOp spill(RewriterBase &rewriter, scf::ForallOp forall,
                    tensor::EmptyOp array, Value last) {
  Location loc = array.getLoc();
  RankedTensorType part = array.getType();
  SmallVector<int64_t> shape, ones;
  for (OpFoldResult bound : forall.getMixedUpperBound())
    shape.push_back(*getConstantIntValue(bound));
  shape.append(part.getShape().begin(), part.getShape().end());

  rewriter.setInsertionPoint(forall);
  SmallVector<Value> outputs(forall.getOutputs());
  outputs.push_back(
      tensor::EmptyOp::create(rewriter, loc, shape, part.getElementType()));
  auto wider = scf::ForallOp::create(
      rewriter, forall.getLoc(), forall.getMixedLowerBound(),
      forall.getMixedUpperBound(), forall.getMixedStep(), outputs,
      forall.getMapping());
  wider->setDiscardableAttrs(forall->getDiscardableAttrDictionary());
  rewriter.eraseOp(wider.getTerminator());
  rewriter.mergeBlocks(forall.getBody(), wider.getBody(),
                       wider.getBody()->getArguments().drop_back());
  rewriter.replaceOp(forall, wider.getResults().drop_back());

  SmallVector<OpFoldResult> offsets, sizes,
      strides(shape.size(), rewriter.getIndexAttr(1));
  for (Value variable : wider.getInductionVars()) {
    offsets.push_back(variable);
    sizes.push_back(rewriter.getIndexAttr(1));
  }
  for (int64_t extent : part.getShape()) {
    offsets.push_back(rewriter.getIndexAttr(0));
    sizes.push_back(rewriter.getIndexAttr(extent));
  }
  Value all = wider.getRegionIterArgs().back();
  rewriter.setInsertionPointToEnd(wider.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(rewriter, loc, last, all, offsets,
                                        sizes, strides);
  rewriter.setInsertionPoint(array);
  rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(array, part, all, offsets,
                                                      sizes, strides);
  return wider;
}

struct NvptxSpillArrays : impl::NvptxSpillArraysBase<NvptxSpillArrays> {
  using NvptxSpillArraysBase::NvptxSpillArraysBase;

  void runOnOperation() override {
    SmallVector<tensor::EmptyOp> arrays;
    getOperation()->walk([&](tensor::EmptyOp op) {
      if (op->getParentOfType<scf::ForallOp>() && isLargeArray(op, limit))
        arrays.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    // Arrays of one shape may begin with the same op.
    for (size_t i = 0, count = arrays.size(); i < count; ++i) {
      rewriter.setInsertionPoint(arrays[i]);
      while (!arrays[i]->use_empty() && !arrays[i]->hasOneUse()) {
        arrays.push_back(cast<tensor::EmptyOp>(rewriter.clone(*arrays[i])));
        arrays[i]->use_begin()->set(arrays.back());
      }
    }
    for (tensor::EmptyOp array : arrays) {
      auto forall = array->getParentOfType<scf::ForallOp>();
      bool plain = forall.isNormalized() &&
                   llvm::all_of(forall.getMixedUpperBound(), [](auto bound) {
                     return getConstantIntValue(bound).has_value();
                   });
      Value last = lastVersion(array.getResult());
      if (plain && last && array->getBlock() == forall.getBody())
        spill(rewriter, forall, array, last);
    }
  }
};

} // namespace
} // namespace drawloom::nvptx
