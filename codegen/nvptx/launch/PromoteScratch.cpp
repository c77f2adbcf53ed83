//===- PromoteScratch.cpp - arrays of tiles in global memory -------------===//
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
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXPROMOTESCRATCH
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

/// Begins `array` outside of the loop that it is made in, which then carries
/// it; `last` becomes what it is after the loop.
tensor::EmptyOp carry(RewriterBase &rewriter, scf::ForOp loop,
                      tensor::EmptyOp array, Value &last) {
  rewriter.setInsertionPoint(loop);
  auto outer = cast<tensor::EmptyOp>(rewriter.clone(*array));
  Value inside;
  FailureOr<LoopLikeOpInterface> carrying = loop.replaceWithAdditionalYields(
      rewriter, outer.getResult(), /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument> carried) {
        inside = carried.front();
        return SmallVector<Value>{last};
      });
  rewriter.replaceOp(array, inside);
  last = (*carrying)->getResults().back();
  return outer;
}

/// The same for a branch; the other branch leaves it as it is.
tensor::EmptyOp carry(RewriterBase &rewriter, scf::IfOp branch,
                      tensor::EmptyOp array, Value &last) {
  rewriter.setInsertionPoint(branch);
  auto outer = cast<tensor::EmptyOp>(rewriter.clone(*array));
  bool isFirst = branch.getThenRegion().isAncestor(array->getParentRegion());
  SmallVector<Type> types(branch.getResultTypes());
  types.push_back(array.getType());
  auto carrying =
      scf::IfOp::create(rewriter, branch.getLoc(), types, branch.getCondition(),
                        /*addThenBlock=*/false, /*addElseBlock=*/false);
  carrying.getThenRegion().takeBody(branch.getThenRegion());
  carrying.getElseRegion().takeBody(branch.getElseRegion());
  auto yield = [&](scf::YieldOp op, Value value) {
    rewriter.modifyOpInPlace(op, [&] { op.getResultsMutable().append(value); });
  };
  yield(carrying.thenYield(), isFirst ? last : outer.getResult());
  yield(carrying.elseYield(), isFirst ? outer.getResult() : last);
  rewriter.replaceOp(array, outer);
  rewriter.replaceOp(branch, carrying.getResults().drop_back());
  last = carrying.getResults().back();
  return outer;
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

/// The op that what `user` reads goes in front of: never among a block's
/// inserts.
Operation *placeFor(Operation *user) {
  Operation *parent = user->getParentOp();
  return isa<scf::InParallelOp>(parent) ? parent : user;
}

/// Arrays of one shape may begin with the same op: gives each of its uses one
/// of its own, where it is used. Adds them.
void split(RewriterBase &rewriter, SmallVectorImpl<tensor::EmptyOp> &arrays) {
  for (size_t i = 0, count = arrays.size(); i < count; ++i)
    while (!arrays[i]->use_empty() && !arrays[i]->hasOneUse()) {
      OpOperand &use = *arrays[i]->use_begin();
      rewriter.setInsertionPoint(placeFor(use.getOwner()));
      arrays.push_back(cast<tensor::EmptyOp>(rewriter.clone(*arrays[i])));
      use.set(arrays.back());
    }
  for (tensor::EmptyOp array : arrays)
    if (!array->use_empty())
      rewriter.moveOpBefore(array, placeFor(*array->user_begin()));
}

/// Whether `op` only gives its first operand more dimensions of one.
bool addsUnits(Operation *op) {
  if (!isa_and_nonnull<tensor::ExpandShapeOp, tensor::InsertSliceOp>(op))
    return false;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto part = cast<RankedTensorType>(op->getOperand(0).getType());
  return part.hasStaticShape() && type.hasStaticShape() &&
         part.getNumElements() == type.getNumElements() &&
         isRankReducedType(type, part) == SliceVerificationResult::Success;
}

/// A program of one block, without a loop over blocks, in such a loop. What
/// begins as an array and becomes a result is a part of it from the start.
void wrap(RewriterBase &rewriter, func::FuncOp function) {
  Block &body = function.getBody().front();
  auto leave = cast<func::ReturnOp>(body.getTerminator());
  Location loc = function.getLoc();
  // Parts of nothing are nothing, too.
  body.walk([&](tensor::ExtractSliceOp slice) {
    RankedTensorType type = slice.getType();
    if (!slice.getSource().getDefiningOp<tensor::EmptyOp>() ||
        !type.hasStaticShape())
      return;
    rewriter.setInsertionPoint(slice);
    rewriter.replaceOpWithNewOp<tensor::EmptyOp>(slice, type.getShape(),
                                                 type.getElementType());
  });
  auto arrays = llvm::to_vector(body.getOps<tensor::EmptyOp>());
  split(rewriter, arrays);

  rewriter.setInsertionPointToStart(&body);
  SmallVector<Value> outputs;
  for (Type result : function.getResultTypes()) {
    auto type = cast<RankedTensorType>(result);
    outputs.push_back(tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                              type.getElementType()));
  }
  OpFoldResult one = rewriter.getIndexAttr(1);
  auto forall = scf::ForallOp::create(rewriter, loc, ArrayRef(one), outputs,
                                      /*mapping=*/std::nullopt);
  SmallVector<Value> made(leave.getOperands());
  rewriter.modifyOpInPlace(leave,
                           [&] { leave->setOperands(forall.getResults()); });
  while (Operation *op = forall->getNextNode()) {
    if (op == leave)
      break;
    op->moveBefore(forall.getTerminator());
  }

  for (auto [value, out] : llvm::zip(made, forall.getRegionIterArgs())) {
    auto type = cast<RankedTensorType>(out.getType());
    SmallVector<OpFoldResult> sizes;
    for (int64_t extent : type.getShape())
      sizes.push_back(rewriter.getIndexAttr(extent));
    SmallVector<OpFoldResult> offsets(sizes.size(), rewriter.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(sizes.size(), one);
    while (addsUnits(value.getDefiningOp()) && value.use_empty() &&
           llvm::count(made, value) == 1) {
      Operation *op = value.getDefiningOp();
      value = op->getOperand(0);
      rewriter.eraseOp(op);
    }
    for (tensor::EmptyOp &array : arrays) {
      if (!array || array.use_empty() || array.getType() != value.getType() ||
          lastVersion(array) != value)
        continue;
      rewriter.setInsertionPoint(array);
      rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
          array, array.getType(), out, offsets, sizes, strides);
      array = {};
    }
    rewriter.setInsertionPointToEnd(forall.getTerminator().getBody());
    tensor::ParallelInsertSliceOp::create(rewriter, loc, value, out, offsets,
                                          sizes, strides);
  }
}

/// Whether nothing in a function is cut into blocks, and `wrap` can.
bool isOneBlock(func::FuncOp function) {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return false;
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() && tensor.getRank() > 0;
  };
  bool cut = function
                 .walk([](Operation *op) {
                   return isa<scf::ForallOp, CallOpInterface>(op)
                              ? WalkResult::interrupt()
                              : WalkResult::advance();
                 })
                 .wasInterrupted();
  return !cut && function.getNumResults() > 0 &&
         llvm::all_of(function.getResultTypes(), isStatic);
}

struct NvptxPromoteScratch
    : impl::NvptxPromoteScratchBase<NvptxPromoteScratch> {
  using NvptxPromoteScratchBase::NvptxPromoteScratchBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    auto hasArray = [&] {
      return getOperation()
          ->walk([&](tensor::EmptyOp op) {
            return isLargeArray(op, limit) && op->hasOneUse() &&
                           lastVersion(op.getResult()) != op.getResult()
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          })
          .wasInterrupted();
    };
    if (isOneBlock(getOperation()) && hasArray())
      wrap(rewriter, getOperation());
    SmallVector<tensor::EmptyOp> arrays;
    getOperation()->walk([&](tensor::EmptyOp op) {
      if (op->getParentOfType<scf::ForallOp>() && !op.use_empty() &&
          isLargeArray(op, limit))
        arrays.push_back(op);
    });
    split(rewriter, arrays);
    for (tensor::EmptyOp array : arrays) {
      auto forall = array->getParentOfType<scf::ForallOp>();
      bool plain = forall.isNormalized() &&
                   llvm::all_of(forall.getMixedUpperBound(), [](auto bound) {
                     return getConstantIntValue(bound).has_value();
                   });
      Value last = lastVersion(array.getResult());
      if (!plain || !last)
        continue;
      while (array->getBlock() != forall.getBody()) {
        Operation *parent = array->getParentOp();
        if (auto loop = dyn_cast<scf::ForOp>(parent))
          array = carry(rewriter, loop, array, last);
        else if (auto branch = dyn_cast<scf::IfOp>(parent);
                 branch && branch.elseBlock())
          array = carry(rewriter, branch, array, last);
        else
          break;
      }
      if (array->getBlock() == forall.getBody())
        spill(rewriter, forall, array, last);
    }
  }
};

} // namespace
} // namespace drawloom::nvptx
