//===- BindExtents.cpp - open extents are those of arguments --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/OpenExtent.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "passes/Graph/DimensionClasses.h"
#include "passes/Graph/OpenExtents.h"
#include "passes/Graph/Passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_BINDEXTENTS
#include "passes/Graph/Passes.h.inc"

namespace {

/// An open extent as the arguments tell it.
struct Source {
  BlockArgument argument;
  int64_t dim;
  /// What the argument's dimension has more.
  int64_t more;
};

/// Numbers the open extents of a function's arguments: those that the body
/// shows to be one have one number, and so have those that differ by a
/// constant.
class Binding {
public:
  explicit Binding(Block &block) : classes(block) {
    llvm::DenseSet<unsigned> known;
    auto note = [&](Value value) {
      if (RankedTensorType type = tensorType(value); type && !isInit(value))
        for (int64_t dim = 0; dim < type.getRank(); ++dim)
          if (!type.isDynamicDim(dim))
            known.insert(classes.find(classes.of(value, dim)));
    };
    for (Value argument : block.getArguments())
      note(argument);
    for (Operation &op : block)
      for (Value result : op.getResults())
        note(result);
    for (BlockArgument argument : block.getArguments())
      if (RankedTensorType type = tensorType(argument))
        for (int64_t dim = 0; dim < type.getRank(); ++dim)
          if (auto [id, more] = leastOf(classes.of(argument, dim));
              type.isDynamicDim(dim) && !known.contains(id))
            sources.insert({id, {argument, dim, more}});
  }

  /// An open extent; none where no argument tells it, or where it has to be
  /// some number.
  std::optional<OpenExtent> extentOf(Value value, int64_t dim) {
    if (isInit(value))
      return std::nullopt;
    auto [id, more] = leastOf(classes.of(value, dim));
    auto *found = sources.find(id);
    if (found == sources.end())
      return std::nullopt;
    return OpenExtent{std::distance(sources.begin(), found), more};
  }

  /// Each open extent, as on arguments and results; null where there is none,
  /// or no argument tells one.
  DenseI64ArrayAttr numbersOf(Value value) {
    RankedTensorType type = tensorType(value);
    if (!type || type.hasStaticShape())
      return {};
    SmallVector<int64_t> numbers;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      numbers.push_back(-1);
      if (!type.isDynamicDim(dim))
        continue;
      std::optional<OpenExtent> extent = extentOf(value, dim);
      if (!extent)
        return {};
      numbers.back() = extent->code();
    }
    return DenseI64ArrayAttr::get(value.getContext(), numbers);
  }

  size_t count() const { return sources.size(); }
  const Source &source(size_t number) const {
    return (sources.begin() + number)->second;
  }

private:
  /// The smallest of the dimensions that differ by constants from one, and by
  /// how much.
  std::pair<unsigned, int64_t> leastOf(unsigned id) {
    int64_t more = 0;
    id = classes.find(id);
    // In a circle, of dimensions that cannot be, each is met once.
    for (size_t steps = 0; steps < classes.larger().size(); ++steps)
      for (const DimensionClasses::Larger &one : classes.larger())
        if (classes.find(one.larger) == id &&
            one.by <= OpenExtent::mostMore - more) {
          id = classes.find(one.than), more += one.by;
          break;
        }
    return {id, more};
  }

  DimensionClasses classes;
  llvm::MapVector<unsigned, Source> sources;
};

/// The open extents of a call, as values of the function.
class ExtentValues {
public:
  ExtentValues(OpBuilder &b, const Binding &binding) {
    for (size_t number = 0; number < binding.count(); ++number) {
      const Source &source = binding.source(number);
      Location loc = source.argument.getLoc();
      given.push_back(
          tensor::DimOp::create(b, loc, source.argument, source.dim));
      asked.insert(given.back().getDefiningOp());
      least.push_back(given.back());
      if (source.more)
        least.back() = arith::SubIOp::create(b, loc, given.back(),
                                             constant(b, loc, source.more));
      mores.push_back(source.more);
    }
  }

  Value of(OpBuilder &b, Location loc, OpenExtent extent) const {
    if (extent.more == mores[extent.number])
      return given[extent.number];
    Value value = least[extent.number];
    if (extent.more == 0)
      return value;
    return arith::AddIOp::create(b, loc, value, constant(b, loc, extent.more));
  }
  /// Whether the op is one of these itself.
  bool contains(Operation *op) const { return asked.contains(op); }

private:
  static Value constant(OpBuilder &b, Location loc, int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  /// As the arguments have them, and without what these have more.
  SmallVector<Value> given, least;
  SmallVector<int64_t> mores;
  llvm::DenseSet<Operation *> asked;
};

/// Everything in `block` that `value` is computed from.
void collectRead(Value value, Block *block, llvm::DenseSet<Value> &read) {
  if (!read.insert(value).second)
    return;
  if (Operation *op = value.getDefiningOp(); op && op->getBlock() == block)
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        collectRead(operand, block, read);
    });
}

/// The open extents of values that no value of an argument has: somebody asked
/// for the extent only.
class Untold {
public:
  bool contains(Value value, int64_t dim) const {
    return dims.contains({value, dim});
  }

  void note(Operation *op) {
    for (OpResult result : op->getResults())
      if (RankedTensorType type = tensorType(result))
        for (int64_t dim = 0; dim < type.getRank(); ++dim)
          if (type.isDynamicDim(dim) && isUntold(op, result, dim))
            dims.insert({result, dim});
  }

private:
  bool isUntold(Operation *op, OpResult result, int64_t dim) const {
    if (isa<tensor::EmptyOp>(op))
      return true;
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      return isUntoldLoop(linalgOp, result, dim);
    // Other shapes of what is untold; block programs read what they do not
    // name as operands.
    if (op->getNumRegions() > 0)
      return false;
    bool any = false;
    for (Value operand : op->getOperands())
      if (RankedTensorType type = tensorType(operand))
        for (int64_t i = 0; i < type.getRank(); ++i)
          if (type.isDynamicDim(i)) {
            if (!contains(operand, i))
              return false;
            any = true;
          }
    return any;
  }

  bool isUntoldLoop(linalg::LinalgOp op, OpResult result, int64_t dim) const {
    auto loop = dyn_cast<AffineDimExpr>(
        op.getIndexingMapMatchingResult(result).getResult(dim));
    if (!loop)
      return false;
    llvm::DenseSet<Value> read;
    collectRead(
        op.getBlock()->getTerminator()->getOperand(result.getResultNumber()),
        op.getBlock(), read);
    return llvm::none_of(op.getDpsInputOperands(), [&](OpOperand *input) {
      std::optional<unsigned> at =
          op.getMatchingIndexingMap(input).getResultPosition(loop);
      return at && read.contains(op.getMatchingBlockArgument(input)) &&
             !contains(input->get(), *at);
    });
  }

  llvm::DenseSet<std::pair<Value, int64_t>> dims;
};

/// Whether a value of an argument, which the op reads for a result that is
/// wanted, has the open extent of a loop.
bool isToldLoop(linalg::LinalgOp op, unsigned loop, const Untold &untold) {
  llvm::DenseSet<Value> read;
  for (OpResult result : op->getResults())
    if (!result.use_empty())
      collectRead(
          op.getBlock()->getTerminator()->getOperand(result.getResultNumber()),
          op.getBlock(), read);
  bool told = false;
  for (OpOperand *input : op.getDpsInputOperands())
    for (auto [dim, index] :
         llvm::enumerate(op.getMatchingIndexingMap(input).getResults()))
      if (auto at = dyn_cast<AffineDimExpr>(index);
          at && at.getPosition() == loop) {
        if (untold.contains(input->get(), dim))
          return false;
        told |= read.contains(op.getMatchingBlockArgument(input));
      }
  return told;
}

/// What is added up over an open extent is added up by rows. Where only its
/// number came from an argument, a program for that number does not know that
/// these are rows, and would add up in another order.
LogicalResult refuseUntoldSums(Block &block) {
  Untold untold;
  for (Operation &each : block) {
    untold.note(&each);
    auto op = dyn_cast<linalg::LinalgOp>(each);
    if (!op)
      continue;
    SmallVector<int64_t> extents = op.getStaticLoopRanges();
    for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
      if (linalg::isReductionIterator(kind) &&
          ShapedType::isDynamic(extents[loop]) && !isToldLoop(op, loop, untold))
        return op.emitError("adds up over an extent of arguments whose "
                            "values it does not read: such a program is "
                            "compiled for known extents only");
  }
  return success();
}

struct BindExtents : impl::BindExtentsBase<BindExtents> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !function.getBody().hasOneBlock())
      return;
    Block &block = function.getBody().front();
    Binding binding(block);
    if (binding.count() == 0)
      return;
    IRRewriter rewriter(&getContext());
    rewriter.setInsertionPointToStart(&block);
    ExtentValues extents(rewriter, binding);
    SmallVector<tensor::DimOp> asked;
    function.walk([&](tensor::DimOp op) { asked.push_back(op); });
    for (tensor::DimOp op : asked) {
      std::optional<int64_t> dim = op.getConstantIndex();
      RankedTensorType type = tensorType(op.getSource());
      if (!dim || !type || *dim >= type.getRank() || !type.isDynamicDim(*dim) ||
          extents.contains(op))
        continue;
      std::optional<OpenExtent> extent = binding.extentOf(op.getSource(), *dim);
      if (!extent)
        continue;
      rewriter.setInsertionPoint(op);
      // What is less by a constant is an open extent, too.
      for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
        if (auto less = dyn_cast<arith::SubIOp>(user);
            less && getConstantIntValue(less.getRhs()) == extent->more)
          rewriter.replaceOp(
              less, extents.of(rewriter, op.getLoc(), {extent->number, 0}));
      rewriter.replaceOp(op, extents.of(rewriter, op.getLoc(), *extent));
    }
    if (failed(refuseUntoldSums(block)))
      return signalPassFailure();
    // What an op writes to, and does not read, is nobody's value.
    for (linalg::LinalgOp op : block.getOps<linalg::LinalgOp>())
      for (OpOperand &init : op.getDpsInitsMutable()) {
        RankedTensorType type = tensorType(init.get());
        if (!type || type.hasStaticShape() ||
            op.payloadUsesValueFromOperand(&init) || isInit(init.get()))
          continue;
        SmallVector<Value> sizes;
        rewriter.setInsertionPoint(op);
        for (int64_t dim = 0; dim < type.getRank(); ++dim)
          if (type.isDynamicDim(dim))
            if (std::optional<OpenExtent> extent =
                    binding.extentOf(init.get(), dim))
              sizes.push_back(extents.of(rewriter, op.getLoc(), *extent));
        if (sizes.size() != type.getNumDynamicDims())
          continue;
        init.set(tensor::EmptyOp::create(rewriter, op.getLoc(), type.getShape(),
                                         type.getElementType(), sizes));
      }
    for (BlockArgument argument : block.getArguments())
      if (DenseI64ArrayAttr numbers = binding.numbersOf(argument))
        function.setArgAttr(argument.getArgNumber(), extentsAttr, numbers);
    for (OpOperand &result : block.getTerminator()->getOpOperands())
      if (DenseI64ArrayAttr numbers = binding.numbersOf(result.get()))
        function.setResultAttr(result.getOperandNumber(), extentsAttr, numbers);
  }
};

} // namespace
} // namespace drawloom
