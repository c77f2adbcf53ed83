//===- BindExtents.cpp - open extents are those of arguments --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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

/// Numbers the open extents of a function's arguments: those that the body
/// shows to be one have one number.
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
          if (unsigned id = classes.find(classes.of(argument, dim));
              type.isDynamicDim(dim) && !known.contains(id))
            sources.insert({id, {argument, dim}});
  }

  /// The number of an open extent; none where no argument tells it, or where
  /// it has to be some number.
  std::optional<int64_t> numberOf(Value value, int64_t dim) {
    auto *found = sources.find(classes.find(classes.of(value, dim)));
    if (isInit(value) || found == sources.end())
      return std::nullopt;
    return std::distance(sources.begin(), found);
  }

  /// The number of each open extent, as on arguments and results; null where
  /// there is none, or one has no number.
  DenseI64ArrayAttr numbersOf(Value value) {
    RankedTensorType type = tensorType(value);
    if (!type || type.hasStaticShape())
      return {};
    SmallVector<int64_t> numbers;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      std::optional<int64_t> number =
          type.isDynamicDim(dim) ? numberOf(value, dim) : -1;
      if (!number)
        return {};
      numbers.push_back(*number);
    }
    return DenseI64ArrayAttr::get(value.getContext(), numbers);
  }

  size_t count() const { return sources.size(); }
  std::pair<BlockArgument, int64_t> source(size_t number) const {
    return (sources.begin() + number)->second;
  }

private:
  DimensionClasses classes;
  llvm::MapVector<unsigned, std::pair<BlockArgument, int64_t>> sources;
};

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
    SmallVector<Value> extents;
    for (size_t number = 0; number < binding.count(); ++number) {
      auto [argument, dim] = binding.source(number);
      extents.push_back(
          tensor::DimOp::create(rewriter, argument.getLoc(), argument, dim));
    }
    SmallVector<tensor::DimOp> asked;
    function.walk([&](tensor::DimOp op) { asked.push_back(op); });
    for (tensor::DimOp op : asked) {
      std::optional<int64_t> dim = op.getConstantIndex();
      RankedTensorType type = tensorType(op.getSource());
      if (!dim || !type || *dim >= type.getRank() || !type.isDynamicDim(*dim) ||
          op.getResult() == extents.front())
        continue;
      if (std::optional<int64_t> number =
              binding.numberOf(op.getSource(), *dim);
          number && extents[*number] != op.getResult())
        rewriter.replaceOp(op, extents[*number]);
    }
    // What an op writes to, and does not read, is nobody's value.
    for (linalg::LinalgOp op : block.getOps<linalg::LinalgOp>())
      for (OpOperand &init : op.getDpsInitsMutable()) {
        RankedTensorType type = tensorType(init.get());
        if (!type || type.hasStaticShape() ||
            op.payloadUsesValueFromOperand(&init) || isInit(init.get()))
          continue;
        SmallVector<Value> sizes;
        for (int64_t dim = 0; dim < type.getRank(); ++dim)
          if (type.isDynamicDim(dim))
            if (std::optional<int64_t> number =
                    binding.numberOf(init.get(), dim))
              sizes.push_back(extents[*number]);
        if (sizes.size() != type.getNumDynamicDims())
          continue;
        rewriter.setInsertionPoint(op);
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
