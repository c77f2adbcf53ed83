//===- GenericRule.cpp - derivatives of structured ops --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A structured op runs a scalar body for each point of its loops. Its gradient
// is one linalg.generic over the same loops: the body runs the scalar code
// again, then the reverse of it, and yields the gradients of all operands that
// need one. A result whose map lacks a loop sums over that loop, as the operand
// was broadcast along it.
//
//===----------------------------------------------------------------------===//

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Differentiate/ReverseMode.h"
#include "passes/Differentiate/Rules.h"

using namespace mlir;
using linalg::GenericOp;
using linalg::LinalgOp;
using llvm::SmallBitVector;

namespace drawloom {

LogicalResult promoteCaptures(RewriterBase &rewriter, LinalgOp op,
                              ValueRange captures) {
  for (Value value : captures)
    if (!isa<FloatType>(value.getType()))
      return op.emitError("cannot be differentiated: the body of '")
             << op->getName() << "' uses a value of type " << value.getType()
             << " from outside that the result has to be differentiated for; "
                "pass it as an operand";
  rewriter.setInsertionPoint(op);
  auto generic = dyn_cast<GenericOp>(op.getOperation());
  if (!generic) {
    FailureOr<GenericOp> named = linalg::generalizeNamedOp(rewriter, op);
    if (failed(named))
      return op.emitError("cannot be differentiated: '")
             << op->getName() << "' could not be generalized";
    generic = *named;
    rewriter.setInsertionPoint(generic);
  }
  SmallVector<Value> inputs(generic.getInputs());
  llvm::append_range(inputs, captures);
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  AffineMap scalar =
      AffineMap::get(generic.getNumLoops(), 0, rewriter.getContext());
  unsigned position = generic.getNumDpsInputs();
  maps.insert(maps.begin() + position, captures.size(), scalar);
  auto wider = GenericOp::create(
      rewriter, generic.getLoc(), generic.getResultTypes(), inputs,
      generic.getOutputs(), maps, generic.getIteratorTypesArray());
  wider.getRegion().takeBody(generic.getRegion());
  for (auto [i, value] : llvm::enumerate(captures)) {
    Value argument = wider.getBody()->insertArgument(
        position + i, value.getType(), value.getLoc());
    value.replaceUsesWithIf(argument, [&](OpOperand &use) {
      return wider.getRegion().isAncestor(use.getOwner()->getParentRegion());
    });
  }
  rewriter.replaceOp(generic, wider.getResults());
  return success();
}

namespace {

/// How a result combines what its loops yield.
enum class Combiner { None, Sum, Extremum, Unknown };

/// What the body does with one result.
struct Reduction {
  Combiner combiner = Combiner::None;
  /// The op that combines the accumulator with `term` (Extremum).
  Operation *op = nullptr;
  Value term;
};

/// Builds the gradient of one structured op.
class GenericGradient {
public:
  /// `op` may be a generalized copy of the op that is differentiated; `results`
  /// are the results of the latter.
  GenericGradient(GenericOp op, ValueRange results, OpBuilder &builder,
                  ValueRange cotangents, const SmallBitVector &needed)
      : op(op), loc(op.getLoc()), results(results), builder(builder),
        inner(builder.getContext()), cotangents(cotangents), needed(needed),
        gradients(needed.size()) {}

  FailureOr<Gradients> build();

private:
  LogicalResult classifyResults();
  LogicalResult buildBody();
  LogicalResult checkMaps();
  void readResults();
  void dropUnusedInputs();
  void buildOp();
  /// One more input of the gradient op; returns its argument in the body.
  Value addInput(Value value, AffineMap map);
  /// The cotangent of a maximum, divided by the number of elements that reach
  /// it: what each of them gets.
  Value shareOfExtremum(unsigned result);

  GenericOp op;
  Location loc;
  ValueRange results;
  OpBuilder &builder; // Where the gradient op is built.
  IRRewriter inner;   // In its body.
  ValueRange cotangents;
  SmallBitVector needed;
  Gradients gradients;

  SmallVector<Reduction> reductions;
  /// What the forward code in the body yields, for each result.
  SmallVector<Value> yielded;
  /// The gradient op in the making: its inputs, their maps, and the body whose
  /// arguments they are.
  Region body;
  SmallVector<Value> inputs;
  SmallVector<AffineMap> inputMaps;
  struct Output {
    unsigned operand; // Of the original op.
    Value gradient;   // In the body.
  };
  SmallVector<Output> outputs;
};

} // namespace

/// Follows the accumulator from the block argument to the yielded value.
static Reduction classifyReduction(BlockArgument accumulator, Value yielded) {
  Reduction reduction;
  reduction.combiner = Combiner::Unknown;
  Value value = accumulator;
  while (value != yielded) {
    if (!value.hasOneUse())
      return reduction;
    Operation *user = *value.user_begin();
    if (isa<arith::AddFOp>(user) ||
        (isa<arith::SubFOp>(user) && user->getOperand(0) == value)) {
      value = user->getResult(0);
      continue;
    }
    if (isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
            arith::MinNumFOp>(user) &&
        value == accumulator && user->getResult(0) == yielded) {
      reduction.combiner = Combiner::Extremum;
      reduction.op = user;
      reduction.term = user->getOperand(user->getOperand(0) == value ? 1 : 0);
      return reduction;
    }
    return reduction;
  }
  // The accumulator passed through unchanged is a sum of nothing.
  if (yielded == accumulator || yielded.hasOneUse())
    reduction.combiner = Combiner::Sum;
  return reduction;
}

/// A loop is a reduction if some result lacks it.
static SmallVector<utils::IteratorType> iteratorsFor(unsigned numLoops,
                                                     ArrayRef<AffineMap> maps) {
  SmallVector<utils::IteratorType> iterators(numLoops,
                                             utils::IteratorType::parallel);
  for (AffineMap map : maps)
    for (unsigned loop = 0; loop < numLoops; ++loop)
      if (!map.isFunctionOfDim(loop))
        iterators[loop] = utils::IteratorType::reduction;
  return iterators;
}

/// Another result, a reduction, from whose value so far `result` is computed.
static std::optional<unsigned> readsReduction(GenericOp op, unsigned result) {
  Value yielded = op.getBody()->getTerminator()->getOperand(result);
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  options.omitUsesFromAbove = false;
  options.filter = [&](Operation *inner) {
    return op->isProperAncestor(inner);
  };
  llvm::SetVector<Operation *> slice;
  (void)getBackwardSlice(yielded, &slice, options);
  for (OpOperand &init : op.getDpsInitsMutable()) {
    unsigned other = init.getOperandNumber() - op.getNumDpsInputs();
    BlockArgument soFar = op.getMatchingBlockArgument(&init);
    if (other == result || op.getMatchingIndexingMap(&init).isPermutation())
      continue;
    if (soFar == yielded ||
        llvm::any_of(soFar.getUsers(), [&](Operation *user) {
          return slice.contains(op.getBody()->findAncestorOpInBlock(*user));
        }))
      return other;
  }
  return std::nullopt;
}

LogicalResult GenericGradient::classifyResults() {
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  for (OpOperand &init : op.getDpsInitsMutable()) {
    unsigned i = init.getOperandNumber() - op.getNumDpsInputs();
    Reduction reduction;
    // With all loops in its map, each element of a result is written once.
    if (cotangents[i] && !op.getMatchingIndexingMap(&init).isPermutation()) {
      reduction = classifyReduction(op.getMatchingBlockArgument(&init),
                                    yield.getOperand(i));
      if (reduction.combiner == Combiner::Unknown)
        return op.emitError("cannot be differentiated: result ")
               << i << " is a reduction that is neither a sum nor a maximum "
               << "or minimum";
    }
    // The reverse does not have what a reduction was on its way.
    if (cotangents[i])
      if (std::optional<unsigned> other = readsReduction(op, i))
        return op.emitError("cannot be differentiated: result ")
               << i << " is computed from what result " << *other
               << ", a reduction, is on its way; block.scan gives running sums";
    reductions.push_back(reduction);
  }
  return success();
}

Value GenericGradient::addInput(Value value, AffineMap map) {
  inputs.push_back(value);
  inputMaps.push_back(map);
  return body.front().addArgument(getElementTypeOrSelf(value.getType()), loc);
}

/// 1 where a term is the extremum, else 0.
static Value reaches(OpBuilder &builder, Location loc, Value term,
                     Value extremum) {
  Value equal = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                      term, extremum);
  return arith::UIToFPOp::create(builder, loc, term.getType(), equal);
}

Value GenericGradient::shareOfExtremum(unsigned result) {
  OpOperand *init = op.getDpsInitOperand(result);
  Value extremum = results[result];
  Value start = reaches(builder, loc, init->get(), extremum);

  SmallVector<Value> operands(op->getOperands());
  operands.push_back(extremum);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap map = op.getMatchingIndexingMap(init);
  maps.append({map, map});
  auto count = GenericOp::create(
      builder, loc, start.getType(), operands, start, maps,
      iteratorsFor(op.getNumLoops(), map),
      [&](OpBuilder &nested, Location nestedLoc, ValueRange arguments) {
        unsigned last = op->getNumOperands();
        IRMapping mapping;
        mapping.map(op.getBody()->getArguments(), arguments.take_front(last));
        for (Operation &forward : op.getBody()->without_terminator())
          nested.clone(forward, mapping);
        Value one = reaches(nested, nestedLoc,
                            mapping.lookupOrDefault(reductions[result].term),
                            arguments[last]);
        Value sum =
            arith::AddFOp::create(nested, nestedLoc, arguments[last + 1], one);
        linalg::YieldOp::create(nested, nestedLoc, sum);
      });
  eraseDeadOps(inner, *count.getBody());
  return arith::DivFOp::create(builder, loc, cotangents[result],
                               count.getResult(0));
}

LogicalResult GenericGradient::buildBody() {
  Block *block = inner.createBlock(&body);
  IRMapping mapping;
  SmallVector<Value> wanted;
  SmallVector<unsigned> wantedOperands;
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (op.isDpsInit(&operand) &&
        (argument.use_empty() ||
         !op.getMatchingIndexingMap(&operand).isPermutation())) {
      // The reverse of a reduction does not look at its accumulator.
      Value zero = arith::ConstantOp::create(
          inner, loc, inner.getZeroAttr(argument.getType()));
      mapping.map(argument, zero);
      continue;
    }
    Value value = addInput(operand.get(), op.getMatchingIndexingMap(&operand));
    mapping.map(argument, value);
    if (needed[number]) {
      wanted.push_back(value);
      wantedOperands.push_back(number);
    }
  }
  for (Operation &forward : *op.getBody())
    inner.clone(forward, mapping);

  Operation *yield = block->getTerminator();
  SmallVector<Value> seeds(op.getNumDpsInits());
  for (auto [i, reduction] : llvm::enumerate(reductions)) {
    if (!cotangents[i])
      continue;
    OpOperand *init = op.getDpsInitOperand(i);
    AffineMap map = op.getMatchingIndexingMap(init);
    bool initNeeded = needed[init->getOperandNumber()];
    Value &initGradient = gradients[init->getOperandNumber()];
    if (reduction.combiner != Combiner::Extremum) {
      seeds[i] = addInput(cotangents[i], map);
      if (reduction.combiner == Combiner::Sum && initNeeded)
        initGradient = cotangents[i];
      continue;
    }
    Value share = shareOfExtremum(i);
    ScalarBuilder outside(builder, loc), inside(inner, loc);
    if (initNeeded) {
      Value equal = arith::CmpFOp::create(
          builder, loc, arith::CmpFPredicate::OEQ, init->get(), results[i]);
      initGradient = outside.select(equal, share, outside.constant(0.0, share));
    }
    Value term = mapping.lookupOrDefault(reduction.term);
    Value extremum = addInput(results[i], map);
    Value given = addInput(share, map);
    inner.setInsertionPoint(yield);
    Value equal = arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::OEQ,
                                        term, extremum);
    seeds[i] = inside.select(equal, given, inside.constant(0.0, given));
    yield->setOperand(i, term);
  }

  FailureOr<Gradients> scalars = ReverseMode(inner, *block).run(seeds, wanted);
  if (failed(scalars))
    return failure();
  // The reverse may have replaced ops of the forward code.
  yielded = llvm::to_vector(yield->getOperands());
  inner.eraseOp(yield);
  for (auto [operand, scalar] : llvm::zip_equal(wantedOperands, *scalars))
    if (scalar)
      outputs.push_back({operand, scalar});
  return success();
}

LogicalResult GenericGradient::checkMaps() {
  for (const Output &output : outputs) {
    AffineMap map =
        op.getMatchingIndexingMap(&op->getOpOperand(output.operand));
    if (!map.isProjectedPermutation())
      return op.emitError("cannot be differentiated: operand ")
             << output.operand << " is indexed by " << AffineMapAttr::get(map)
             << ", and its gradient would be a scatter; only maps to distinct "
                "loops are supported";
  }
  return success();
}

/// The arguments of a block that `values` are computed from in it; the ops
/// behind `known` do not count.
static llvm::SetVector<Value> argumentsOf(Block &block, ValueRange values,
                                          Value known) {
  llvm::SetVector<Value> found, seen;
  seen.insert_range(values);
  for (unsigned i = 0; i < seen.size(); ++i) {
    Value value = seen[i];
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() == &block)
        found.insert(argument);
      continue;
    }
    // Behind a value from outside is the rest of the program.
    if (value == known || !block.findAncestorOpInBlock(*value.getDefiningOp()))
      continue;
    value.getDefiningOp()->walk(
        [&](Operation *op) { seen.insert_range(op->getOperands()); });
  }
  return found;
}

/// Reads a result of the forward op instead of computing it again, if a
/// computed tensor then need not be kept for this op alone. relu, for example,
/// needs only its result, which the next layer's gradient reads anyway.
void GenericGradient::readResults() {
  Block &block = body.front();
  Operation *forward = results.front().getDefiningOp();
  for (auto [i, reduction] : llvm::enumerate(reductions)) {
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(i));
    Value again = yielded[i];
    if (reduction.combiner != Combiner::None || !map.isPermutation() ||
        !again.getDefiningOp() || again.getParentBlock() != &block ||
        results[i].use_empty())
      continue;
    SmallVector<Value> wanted = llvm::map_to_vector(
        outputs, [](const Output &output) { return output.gradient; });
    llvm::SetVector<Value> without = argumentsOf(block, wanted, again);
    bool frees =
        llvm::any_of(argumentsOf(block, wanted, Value()), [&](Value argument) {
          unsigned number = cast<BlockArgument>(argument).getArgNumber();
          return !without.contains(argument) &&
                 inputs[number].getDefiningOp() &&
                 inputMaps[number].isPermutation() &&
                 llvm::all_of(inputs[number].getUsers(), [&](Operation *user) {
                   return user == op.getOperation() || user == forward;
                 });
        });
    if (!frees)
      continue;
    Value read = addInput(results[i], map);
    again.replaceAllUsesWith(read);
    for (Output &output : outputs)
      if (output.gradient == again)
        output.gradient = read;
  }
}

/// Inputs that only the forward computation needed would be read for nothing;
/// one that alone tells the extent of a loop has to stay.
void GenericGradient::dropUnusedInputs() {
  SmallVector<AffineMap> outputMaps;
  for (const Output &output : outputs)
    outputMaps.push_back(
        op.getMatchingIndexingMap(&op->getOpOperand(output.operand)));
  for (int64_t i = inputs.size() - 1; i >= 0; --i) {
    if (!body.getArgument(i).use_empty())
      continue;
    SmallVector<AffineMap> rest(inputMaps);
    rest.erase(rest.begin() + i);
    llvm::append_range(rest, outputMaps);
    if (!inversePermutation(concatAffineMaps(rest, builder.getContext())))
      continue;
    inputs.erase(inputs.begin() + i);
    inputMaps.erase(inputMaps.begin() + i);
    body.front().eraseArgument(i);
  }
}

void GenericGradient::buildOp() {
  Block *block = &body.front();
  // How far a loop goes, perhaps only a result says that has no cotangent.
  for (OpOperand &init : op.getDpsInitsMutable())
    addInput(init.get(), op.getMatchingIndexingMap(&init));
  readResults();
  inner.setInsertionPointToEnd(block);
  SmallVector<Value> inits, gradientsYielded;
  SmallVector<AffineMap> outputMaps;
  for (const Output &output : outputs) {
    Value operand = op->getOperand(output.operand);
    AffineMap map =
        op.getMatchingIndexingMap(&op->getOpOperand(output.operand));
    Type element = output.gradient.getType();
    Value gradient = output.gradient;
    if (map.isPermutation()) {
      inits.push_back(emptyLike(builder, loc, operand, element));
      block->addArgument(element, loc);
    } else {
      Type wide = accumulatorType(element);
      inits.push_back(zerosLike(builder, loc, operand, wide));
      if (wide != element)
        gradient = arith::ExtFOp::create(inner, loc, wide, gradient);
      gradient = arith::AddFOp::create(inner, loc,
                                       block->addArgument(wide, loc), gradient);
    }
    gradientsYielded.push_back(gradient);
    outputMaps.push_back(map);
  }
  linalg::YieldOp::create(inner, loc, gradientsYielded);
  eraseDeadOps(inner, *block);
  dropUnusedInputs();

  SmallVector<AffineMap> maps(inputMaps);
  llvm::append_range(maps, outputMaps);
  auto result = GenericOp::create(builder, loc, TypeRange(ValueRange(inits)),
                                  inputs, inits, maps,
                                  iteratorsFor(op.getNumLoops(), outputMaps));
  result.getRegion().takeBody(body);

  for (auto [output, value] : llvm::zip_equal(outputs, result.getResults())) {
    Type wanted = op->getOperand(output.operand).getType();
    Value gradient = value;
    if (!isa<RankedTensorType>(wanted))
      gradient =
          tensor::ExtractOp::create(builder, loc, gradient, ValueRange{});
    if (gradient.getType() != wanted)
      gradient = arith::TruncFOp::create(builder, loc, wanted, gradient);
    gradients[output.operand] = gradient;
  }
}

FailureOr<Gradients> GenericGradient::build() {
  if (failed(classifyResults()) || failed(buildBody()) || failed(checkMaps()))
    return failure();
  if (!outputs.empty())
    buildOp();
  return gradients;
}

FailureOr<Gradients> genericVjp(LinalgOp op, OpBuilder &builder,
                                ValueRange cotangents,
                                const SmallBitVector &needed) {
  if (auto generic = dyn_cast<GenericOp>(op.getOperation()))
    return GenericGradient(generic, generic.getResults(), builder, cotangents,
                           needed)
        .build();
  // A copy in the form with explicit maps and body, to read and throw away.
  IRRewriter rewriter(builder.getContext());
  rewriter.setInsertionPoint(op);
  auto copy = cast<LinalgOp>(rewriter.clone(*op));
  rewriter.setInsertionPoint(copy);
  FailureOr<GenericOp> generic = linalg::generalizeNamedOp(rewriter, copy);
  if (failed(generic)) {
    rewriter.eraseOp(copy);
    return op.emitError("cannot be differentiated: '")
           << op->getName() << "' could not be generalized";
  }
  FailureOr<Gradients> gradients =
      GenericGradient(*generic, op->getResults(), builder, cotangents, needed)
          .build();
  rewriter.eraseOp(*generic);
  return gradients;
}

} // namespace drawloom
