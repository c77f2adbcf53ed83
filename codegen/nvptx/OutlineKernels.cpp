//===- OutlineKernels.cpp - functions of what one launch runs -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXOUTLINEKERNELS
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;

namespace drawloom::nvptx {
namespace {

/// What moves no data, or is cheaper to make again than to keep.
bool isRepeatable(Operation *op) {
  if (isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::DimOp,
          tensor::EmptyOp, tensor::ExpandShapeOp, tensor::ExtractOp,
          tensor::ExtractSliceOp>(op))
    return true;
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return fill.getOutputs()[0].getDefiningOp<tensor::EmptyOp>() != nullptr;
  bool scalar =
      llvm::none_of(op->getResultTypes(), llvm::IsaPred<TensorType>) &&
      llvm::none_of(op->getOperandTypes(), llvm::IsaPred<TensorType>);
  return isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
         (scalar || op->hasTrait<OpTrait::ConstantLike>());
}

class Outliner {
public:
  Outliner(SymbolTable &symbols, func::FuncOp function)
      : symbols(symbols), function(function) {}
  LogicalResult run();

private:
  /// Ops that one kernel runs, in order, and values of them that are needed
  /// behind it.
  struct Kernel {
    SmallVector<Operation *> ops;
    llvm::SetVector<Value> results;
  };
  void collect();
  /// Makes a value that is repeatable, but that memory is needed for, a result
  /// of a kernel.
  void materialize(Value value, unsigned before);
  void needs(Operation *op, unsigned user);
  LogicalResult outline(unsigned index);

  SymbolTable &symbols;
  func::FuncOp function;
  SmallVector<Kernel> kernels;
  DenseMap<Operation *, unsigned> kernelOf;
  /// What takes the place of a value in the function, once its kernel is made.
  DenseMap<Value, Value> replacements;
};

void Outliner::collect() {
  bool open = false;
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (isRepeatable(&op))
      continue;
    bool blocks = isa<scf::ForallOp>(op);
    if (blocks || !open)
      kernels.emplace_back();
    kernels.back().ops.push_back(&op);
    kernelOf[&op] = kernels.size() - 1;
    // Blocks write all of their results.
    if (blocks)
      kernels.back().results.insert(op.result_begin(), op.result_end());
    open = !blocks;
  }
}

void Outliner::materialize(Value value, unsigned before) {
  Operation *op = value.getDefiningOp();
  if (!op || !isRepeatable(op))
    return;
  // The kernel in front makes it too, unless that is one of blocks.
  auto runsBlocks = [](const Kernel &kernel) {
    return !kernel.ops.empty() && isa<scf::ForallOp>(kernel.ops.front());
  };
  if (before == 0 || runsBlocks(kernels[before - 1])) {
    kernels.insert(kernels.begin() + before, Kernel());
    for (auto &entry : kernelOf)
      if (entry.second >= before)
        ++entry.second;
    ++before;
  }
  kernels[before - 1].results.insert(value);
}

/// Marks what `op`, of kernel `user`, reads of earlier kernels.
void Outliner::needs(Operation *op, unsigned user) {
  llvm::SetVector<Value> read(op->getOperands().begin(),
                              op->getOperands().end());
  getUsedValuesDefinedAbove(op->getRegions(), read);
  for (Value value : read) {
    Operation *def = value.getDefiningOp();
    if (!def || def->getBlock() != &function.getBody().front())
      continue;
    if (isRepeatable(def))
      needs(def, user);
    else if (kernelOf.lookup(def) != user)
      kernels[kernelOf.lookup(def)].results.insert(value);
  }
}

LogicalResult Outliner::outline(unsigned index) {
  Kernel &kernel = kernels[index];
  OpBuilder host(function.getContext());
  Operation *terminator = function.getBody().front().getTerminator();
  host.setInsertionPoint(terminator);
  Location loc =
      kernel.ops.empty() ? function.getLoc() : kernel.ops.front()->getLoc();

  auto outlined =
      func::FuncOp::create(loc, (function.getName() + "_" + Twine(index)).str(),
                           FunctionType::get(function.getContext(), {}, {}));
  outlined.setPrivate();
  outlined->setAttr(kernelAttr, UnitAttr::get(function.getContext()));
  symbols.insert(outlined, Block::iterator(function));
  Block *body = outlined.addEntryBlock();
  OpBuilder inside = OpBuilder::atBlockEnd(body);

  IRMapping mapping;
  SmallVector<Value> operands;
  std::function<void(Value)> bring = [&](Value value) {
    if (mapping.contains(value))
      return;
    Operation *def = value.getDefiningOp();
    if (def && def->getBlock() == &function.getBody().front() &&
        isRepeatable(def) && !replacements.count(value)) {
      for (Value operand : def->getOperands())
        bring(operand);
      inside.clone(*def, mapping);
      return;
    }
    operands.push_back(replacements.lookup_or(value, value));
    mapping.map(value, body->addArgument(value.getType(), value.getLoc()));
  };
  for (Operation *op : kernel.ops) {
    llvm::SetVector<Value> read(op->getOperands().begin(),
                                op->getOperands().end());
    getUsedValuesDefinedAbove(op->getRegions(), read);
    for (Value value : read)
      bring(value);
    inside.clone(*op, mapping);
  }
  SmallVector<Value> results;
  for (Value value : kernel.results) {
    bring(value);
    Value result = mapping.lookup(value);
    // Numbers leave a kernel through memory as well.
    if (!isa<TensorType>(result.getType()))
      result = tensor::FromElementsOp::create(
          inside, loc, RankedTensorType::get({}, result.getType()), result);
    results.push_back(result);
  }
  func::ReturnOp::create(inside, loc, results);
  outlined.setFunctionType(FunctionType::get(function.getContext(),
                                             body->getArgumentTypes(),
                                             ValueRange(results).getTypes()));

  auto call = func::CallOp::create(host, loc, outlined, operands);
  // Blocks that leave some of their result as it was update it in place.
  SmallVector<int64_t> updates;
  if (!kernel.ops.empty())
    if (auto blocks = dyn_cast<scf::ForallOp>(kernel.ops.front()))
      for (OpOperand &init : blocks.getOutputsMutable()) {
        Value value = init.get();
        if (value.getDefiningOp<tensor::EmptyOp>())
          continue;
        auto *place =
            llvm::find(kernel.results, Value(blocks.getTiedOpResult(&init)));
        auto *operand =
            llvm::find(operands, replacements.lookup_or(value, value));
        if (place != kernel.results.end() && operand != operands.end())
          updates.append(
              {place - kernel.results.begin(), operand - operands.begin()});
      }
  if (!updates.empty())
    call->setAttr(updatesAttr, host.getDenseI64ArrayAttr(updates));
  for (auto [value, result] : llvm::zip(kernel.results, call.getResults())) {
    if (isa<TensorType>(value.getType())) {
      replacements[value] = result;
      continue;
    }
    replacements[value] =
        tensor::ExtractOp::create(host, loc, result, ValueRange());
  }
  return success();
}

LogicalResult Outliner::run() {
  collect();
  Operation *terminator = function.getBody().front().getTerminator();
  for (unsigned i = 0; i < kernels.size(); ++i) {
    if (kernels[i].ops.empty())
      continue;
    if (auto blocks = dyn_cast<scf::ForallOp>(kernels[i].ops.front()))
      for (Value init : blocks.getOutputs()) {
        if (init.getDefiningOp<tensor::EmptyOp>())
          continue;
        size_t count = kernels.size();
        materialize(init, i);
        i += kernels.size() - count;
      }
  }
  for (Value value : terminator->getOperands())
    materialize(value, kernels.size());
  for (unsigned i = 0; i < kernels.size(); ++i) {
    for (Operation *op : kernels[i].ops)
      needs(op, i);
    for (Value value : llvm::to_vector(kernels[i].results))
      if (Operation *def = value.getDefiningOp(); def && isRepeatable(def))
        needs(def, i);
  }
  for (Value value : terminator->getOperands())
    if (Operation *def = value.getDefiningOp(); def && kernelOf.count(def))
      kernels[kernelOf.lookup(def)].results.insert(value);
  for (unsigned i = 0; i < kernels.size(); ++i)
    if (failed(outline(i)))
      return failure();
  for (OpOperand &operand : terminator->getOpOperands())
    operand.set(replacements.lookup_or(operand.get(), operand.get()));
  // Backwards: what uses comes before what is used.
  SmallVector<Operation *> left;
  for (Operation &op : function.getBody().front().without_terminator())
    left.push_back(&op);
  for (Operation *op : llvm::reverse(left))
    if (op->use_empty() && !isa<func::CallOp>(op))
      op->erase();
  return success();
}

struct NvptxOutlineKernels
    : impl::NvptxOutlineKernelsBase<NvptxOutlineKernels> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      if (function.isExternal() || function->hasAttr(kernelAttr))
        continue;
      for (Type type : function.getFunctionType().getInputs())
        if (auto tensor = dyn_cast<RankedTensorType>(type);
            tensor && !tensor.hasStaticShape()) {
          function.emitError("cannot run on a GPU with the unknown extents of ")
              << type << ": give them with --shape, or specialize the function";
          return signalPassFailure();
        }
      if (failed(Outliner(symbols, function).run()))
        return signalPassFailure();
    }
  }
};

} // namespace
} // namespace drawloom::nvptx
