//===- ScanRule.cpp - derivatives of recurrent cells ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// linrec.nonlinear_scan runs a cell from token to token. Its gradient is a scan
// in the other direction, whose cell is the reverse of the region: its states
// are the cotangents of the states, and the sums of what parameters get. What
// it needs of the way there is the states before each token.
//
//===----------------------------------------------------------------------===//

#include "dialects/LinRec/LinRec.h"
#include "dialects/LinRec/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Differentiate/ReverseMode.h"
#include "passes/Differentiate/Rules.h"

using namespace mlir;
using drawloom::linrec::NonlinearScanOp;
using llvm::SmallBitVector;

namespace drawloom {

using Values = SmallVector<Value>;

namespace {

RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// The gradient of one op.
class ScanGradient {
public:
  ScanGradient(NonlinearScanOp op, OpBuilder &builder, ValueRange cotangents,
               const SmallBitVector &needed)
      : op(op), builder(builder), loc(op.getLoc()), cotangents(cotangents),
        needed(needed), copy(cast<NonlinearScanOp>(builder.clone(*op))) {}
  ~ScanGradient() { copy.erase(); }
  FailureOr<Gradients> build();

private:
  /// Reverses the copy's region.
  LogicalResult reverse();
  void addCotangents();
  /// The states before each token that the reversed region reads.
  Values statesBefore();
  /// Makes the reversed region yield cotangents of states, sums of what
  /// parameters get, and what inputs get.
  void yieldGradients();
  NonlinearScanOp gradient();

  NonlinearScanOp op;
  OpBuilder &builder;
  Location loc;
  ValueRange cotangents;
  const SmallBitVector &needed;

  /// Its region grows by the reverse of it.
  NonlinearScanOp copy;
  /// By the copy's arguments: what they get; null for nothing.
  Values rows;
  /// Arguments that were added, for the cotangents of the states behind a token
  /// and of outputs; the latter null where there is none.
  Values behind, ofOutputs;
  /// Arguments that were added, for what parameters have got so far.
  Values sums;
  /// What inputs get.
  SmallVector<Type> outputTypes;
};

} // namespace

void ScanGradient::addCotangents() {
  Block &block = copy.getCell().front();
  for (unsigned i = 0; i < op.numStates(); ++i)
    behind.push_back(block.addArgument(op.cellType(), loc));
  for (unsigned i = 0; i < op.getOutputs().size(); ++i)
    ofOutputs.push_back(cotangents[i] ? block.addArgument(op.cellType(), loc)
                                      : Value());
}

LogicalResult ScanGradient::reverse() {
  Block &block = copy.getCell().front();
  unsigned arguments = block.getNumArguments();
  addCotangents();
  Values seeds(behind);
  llvm::append_range(seeds, ofOutputs);
  Values wanted;
  SmallVector<unsigned> numbers;
  for (unsigned i = 0; i < arguments; ++i)
    // The cotangents of states go on from token to token.
    if (i < op.numStates() || needed[i]) {
      wanted.push_back(block.getArgument(i));
      numbers.push_back(i);
    }
  IRRewriter inner(builder.getContext());
  inner.setInsertionPoint(block.getTerminator());
  FailureOr<Values> found = ReverseMode(inner, block).run(seeds, wanted);
  if (failed(found))
    return failure();
  rows.assign(arguments, Value());
  for (auto [number, row] : llvm::zip_equal(numbers, *found))
    rows[number] = row;
  return success();
}

Values ScanGradient::statesBefore() {
  Block &block = copy.getCell().front();
  Values before(op.numStates());
  SmallVector<unsigned> again;
  for (unsigned i = 0; i < op.numStates(); ++i) {
    if (block.getArgument(i).use_empty())
      continue;
    Value behindToken;
    for (auto [yielded, output] :
         llvm::zip_equal(op.yieldedOutputs(), op.getOutputs())) {
      if (getElementTypeOrSelf(output) != op.cellType())
        continue;
      if (yielded == op.stateArguments()[i])
        before[i] = output;
      else if (yielded == op.newStates()[i])
        behindToken = output;
    }
    if (!before[i] && behindToken)
      before[i] = NonlinearScanOp::before(builder, loc, behindToken,
                                          op.getInitial()[i], op.getReverse());
    if (!before[i])
      again.push_back(i);
  }
  if (again.empty())
    return before;
  // States that are no outputs are computed again.
  SmallVector<Type> outputs(op.getOutputs().getTypes());
  Type like = op.getInputs().empty() ? op.getOutputs().front().getType()
                                     : op.getInputs().front().getType();
  outputs.append(again.size(),
                 cast<RankedTensorType>(like).clone(Type(op.cellType())));
  auto kept = NonlinearScanOp::create(
      builder, loc, outputs, op.getFinals().getTypes(),
      op.getReport().getTypes(), op.getInitial(), op.getInputs(),
      op.getParameters(), op.getReverseAttr(), op.getSegmentsAttr(),
      op.getNewtonAttr(), op.getToleranceAttr());
  IRMapping mapping;
  op.getCell().cloneInto(&kept.getCell(), mapping);
  Operation *yield = kept.getCell().front().getTerminator();
  for (unsigned i : again)
    yield->insertOperands(yield->getNumOperands(), kept.stateArguments()[i]);
  for (auto [i, output] : llvm::zip_equal(
           again, kept.getOutputs().drop_front(op.getOutputs().size())))
    before[i] = output;
  return before;
}

void ScanGradient::yieldGradients() {
  Block &block = copy.getCell().front();
  unsigned states = op.numStates(), inputs = op.getInputs().size();
  IRRewriter inner(builder.getContext());
  inner.setInsertionPoint(block.getTerminator());
  Values yielded;
  ScalarBuilder s(inner, loc);
  for (unsigned i = 0; i < states; ++i)
    yielded.push_back(rows[i] ? rows[i] : s.constant(0.0, behind[i]));
  for (unsigned i = states + inputs; i < rows.size(); ++i)
    if (needed[i] && rows[i]) {
      sums.push_back(block.addArgument(op.cellType(), loc));
      yielded.push_back(s.add(sums.back(), rows[i]));
    }
  for (unsigned i = states; i < states + inputs; ++i)
    if (needed[i] && rows[i]) {
      yielded.push_back(rows[i]);
      outputTypes.push_back(op.getInputs()[i - states].getType());
    }
  if (inputs == 0) {
    // An output says how many tokens there are.
    yielded.push_back(behind.front());
    outputTypes.push_back(
        typeOf(op.getOutputs().front()).clone(Type(op.cellType())));
  }
  inner.replaceOpWithNewOp<linrec::YieldOp>(block.getTerminator(), yielded);
  // What the reversed region reads shows when nothing else is in it.
  eraseDeadOps(inner, block);
}

NonlinearScanOp ScanGradient::gradient() {
  Block &block = copy.getCell().front();
  unsigned states = op.numStates(), inputs = op.getInputs().size();
  Values before = statesBefore();
  Values newInitial, newInputs, newParameters, arguments;
  auto add = [&](Values &operands, Value tensor, Value argument) {
    operands.push_back(tensor);
    arguments.push_back(argument);
  };
  for (unsigned i = 0; i < states; ++i) {
    Value cotangent = cotangents[op.getOutputs().size() + i];
    add(newInitial,
        cotangent ? cotangent : zerosLike(builder, loc, op.getInitial()[i]),
        behind[i]);
  }
  for (Value sum : sums)
    add(newInitial, zerosLike(builder, loc, op.getInitial().front()), sum);
  for (unsigned i = 0; i < states; ++i)
    if (before[i])
      add(newInputs, before[i], block.getArgument(i));
  for (unsigned i = 0; i < inputs; ++i)
    if (!block.getArgument(states + i).use_empty())
      add(newInputs, op.getInputs()[i], block.getArgument(states + i));
  for (auto [i, argument] : llvm::enumerate(ofOutputs))
    if (argument)
      add(newInputs, cotangents[i], argument);
  // One that nothing reads may be what says how many tokens there are.
  if (newInputs.empty() && inputs > 0)
    add(newInputs, op.getInputs().front(), block.getArgument(states));
  for (unsigned i = 0; i < op.getParameters().size(); ++i) {
    Value argument = block.getArgument(states + inputs + i);
    if (!argument.use_empty())
      add(newParameters, op.getParameters()[i], argument);
  }
  auto result = NonlinearScanOp::create(
      builder, loc, outputTypes, ValueRange(newInitial).getTypes(), TypeRange(),
      newInitial, newInputs, newParameters,
      op.getReverse() ? UnitAttr() : builder.getUnitAttr(), IntegerAttr(),
      IntegerAttr(), FloatAttr());
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&result.getCell());
  IRMapping mapping;
  for (Value argument : arguments)
    mapping.map(argument, body->addArgument(op.cellType(), loc));
  for (Operation &nested : block)
    builder.clone(nested, mapping);
  // Derivatives of |x| and its like choose signs in ways that do not show that
  // they are linear.
  if (result.isAffine())
    result.setSegmentsAttr(op.getSegmentsAttr());
  return result;
}

FailureOr<Gradients> ScanGradient::build() {
  Gradients gradients(op->getNumOperands());
  if (failed(reverse()))
    return failure();
  yieldGradients();
  NonlinearScanOp scan = gradient();
  unsigned states = op.numStates(), inputs = op.getInputs().size();
  for (unsigned i = 0; i < states; ++i)
    gradients[i] = scan.getFinals()[i];
  unsigned output = 0, sum = states;
  for (unsigned i = states; i < rows.size(); ++i) {
    if (!needed[i] || !rows[i])
      continue;
    gradients[i] =
        i < states + inputs
            ? Value(scan.getOutputs()[output++])
            : linrec::sumOver(builder, loc, scan.getFinals()[sum++], 0);
  }
  return gradients;
}

namespace {
struct ScanModel
    : DifferentiableOpInterface::ExternalModel<ScanModel, NonlinearScanOp> {
  FailureOr<Gradients> buildVjp(Operation *op, OpBuilder &builder,
                                ValueRange cotangents,
                                const SmallBitVector &needed) const {
    return ScanGradient(cast<NonlinearScanOp>(op), builder, cotangents, needed)
        .build();
  }
};
} // namespace

void attachScanRule(MLIRContext *context) {
  NonlinearScanOp::attachInterface<ScanModel>(*context);
}

} // namespace drawloom
