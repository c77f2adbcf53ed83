//===- NonlinearScan.cpp - recurrent cells along tokens -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/ScalarBuilder.h"
#include "dialects/LinRec/LinRec.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace drawloom::linrec {

//===----------------------------------------------------------------------===//
// What the op is made of
//===----------------------------------------------------------------------===//

FloatType NonlinearScanOp::cellType() {
  return cast<FloatType>(getElementTypeOrSelf(getInitial().front().getType()));
}

double NonlinearScanOp::toleranceOrDefault() {
  if (getTolerance())
    return getTolerance()->convertToDouble();
  double eps = cellType().isF64() ? 0x1p-52 : 0x1p-23;
  return 64 * eps;
}

ValueRange NonlinearScanOp::stateArguments() {
  return getCell().getArguments().take_front(numStates());
}
ValueRange NonlinearScanOp::inputArguments() {
  return getCell().getArguments().slice(numStates(), getInputs().size());
}
ValueRange NonlinearScanOp::parameterArguments() {
  return getCell().getArguments().take_back(getParameters().size());
}
OperandRange NonlinearScanOp::newStates() {
  return getCell().front().getTerminator()->getOperands().take_front(
      numStates());
}
OperandRange NonlinearScanOp::yieldedOutputs() {
  return getCell().front().getTerminator()->getOperands().drop_front(
      numStates());
}

namespace {
/// How a value depends on states: not at all, as an affine function, or
/// otherwise.
enum class Degree { Constant, Affine, Other };
} // namespace

static Degree degreeOf(Operation *op, ArrayRef<Degree> of) {
  Degree most = *llvm::max_element(of);
  if (most != Degree::Affine)
    return most;
  auto isConstant = [&](unsigned i) { return of[i] == Degree::Constant; };
  if (isa<arith::AddFOp, arith::SubFOp, arith::NegFOp>(op))
    return Degree::Affine;
  if (isa<arith::MulFOp>(op))
    return isConstant(0) || isConstant(1) ? Degree::Affine : Degree::Other;
  if (isa<arith::DivFOp>(op))
    return isConstant(1) ? Degree::Affine : Degree::Other;
  if (isa<math::FmaOp>(op))
    return isConstant(0) || isConstant(1) ? Degree::Affine : Degree::Other;
  if (isa<arith::SelectOp>(op))
    return isConstant(0) ? Degree::Affine : Degree::Other;
  return Degree::Other;
}

bool NonlinearScanOp::isAffine() {
  llvm::DenseMap<Value, Degree> degrees;
  for (Value state : stateArguments())
    degrees[state] = Degree::Affine;
  for (Operation &op : getCell().front().without_terminator()) {
    SmallVector<Degree> of;
    for (Value operand : op.getOperands())
      of.push_back(degrees.lookup(operand));
    Degree degree = of.empty() ? Degree::Constant : degreeOf(&op, of);
    for (Value result : op.getResults())
      degrees[result] = degree;
  }
  return llvm::all_of(newStates(), [&](Value state) {
    return degrees.lookup(state) != Degree::Other;
  });
}

Value NonlinearScanOp::before(OpBuilder &builder, Location loc, Value behind,
                              Value first, bool reverse) {
  // The state is what was read last.
  auto scan = NonlinearScanOp::create(
      builder, loc, behind.getType(), first.getType(), TypeRange(), first,
      behind, ValueRange(), reverse ? builder.getUnitAttr() : UnitAttr(),
      IntegerAttr(), IntegerAttr(), FloatAttr());
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&scan.getCell());
  Value state = body->addArgument(scan.cellType(), loc);
  Value read = body->addArgument(scan.cellType(), loc);
  YieldOp::create(builder, loc, ValueRange{read, state});
  return scan.getOutputs().front();
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Whether two extents may be the same.
static bool agree(int64_t a, int64_t b) {
  return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b);
}

/// Checks that `type` has this shape and the cell's type, or one that is
/// narrower.
static LogicalResult verifyTensor(NonlinearScanOp op, Type type,
                                  ArrayRef<int64_t> shape, bool mayBeNarrow,
                                  StringRef what, unsigned i) {
  auto tensor = cast<RankedTensorType>(type);
  bool same = tensor.getRank() == static_cast<int64_t>(shape.size());
  for (auto [dim, extent] : llvm::enumerate(shape))
    same = same && agree(tensor.getDimSize(dim), extent);
  if (same)
    same = !tensor.isDynamicDim(tensor.getRank() - 1);
  FloatType cell = op.cellType();
  Type element = tensor.getElementType();
  bool fits = element == cell || (mayBeNarrow && cell.isF32() &&
                                  (element.isF16() || element.isBF16()));
  if (same && fits)
    return success();
  InFlightDiagnostic error = op.emitOpError("has ")
                             << what << " " << i << " of type " << type
                             << ", not one of " << cell << " of shape [";
  llvm::interleaveComma(shape, error, [&](int64_t extent) {
    if (ShapedType::isDynamic(extent))
      error << "?";
    else
      error << extent;
  });
  return error << "]";
}

LogicalResult NonlinearScanOp::verify() {
  if (getInitial().empty())
    return emitOpError("has no state; without one, tokens do not depend on "
                       "each other, and a linalg.generic computes them");
  auto first = cast<RankedTensorType>(getInitial().front().getType());
  if (first.getRank() != 2 || first.isDynamicDim(1) ||
      first.getDimSize(1) == 0 ||
      !(first.getElementType().isF32() || first.getElementType().isF64()))
    return emitOpError("has states of type ")
           << first << "; they are [B, D] of f32 or f64, where D is static "
           << "and at least 1";
  int64_t sequences = first.getDimSize(0), channels = first.getDimSize(1);
  if (getInputs().empty() && getOutputs().empty())
    return emitOpError("has neither inputs nor outputs, so that nothing says "
                       "how many tokens there are");
  if (getInputs().empty())
    for (Type type : getOutputs().getTypes())
      if (auto tensor = cast<RankedTensorType>(type);
          tensor.getRank() == 3 && tensor.isDynamicDim(1))
        return emitOpError("has no inputs and an output of type ")
               << type << ", so that nothing says how many tokens there are";
  int64_t tokens = ShapedType::kDynamic;
  SmallVector<Type> perToken(getInputs().getTypes());
  llvm::append_range(perToken, getOutputs().getTypes());
  for (Type type : perToken) {
    auto tensor = cast<RankedTensorType>(type);
    if (tensor.getRank() == 3 && !tensor.isDynamicDim(1)) {
      tokens = tensor.getDimSize(1);
      break;
    }
  }
  auto check = [&](auto range, ArrayRef<int64_t> shape, bool narrow,
                   StringRef what) -> LogicalResult {
    for (auto [i, type] : llvm::enumerate(range))
      if (failed(verifyTensor(*this, type, shape, narrow, what, i)))
        return failure();
    return success();
  };
  if (failed(check(getInitial().getTypes(), {sequences, channels}, false,
                   "state")) ||
      failed(check(getInputs().getTypes(), {sequences, tokens, channels}, true,
                   "input")) ||
      failed(
          check(getParameters().getTypes(), {channels}, false, "parameter")) ||
      failed(check(getOutputs().getTypes(), {sequences, tokens, channels}, true,
                   "output")) ||
      failed(
          check(getFinals().getTypes(), {sequences, channels}, false, "final")))
    return failure();
  if (getFinals().size() != numStates())
    return emitOpError("has ")
           << numStates() << " states, but " << getFinals().size() << " finals";
  auto isBelowOne = [](IntegerAttr number) {
    return number && number.getInt() < 1;
  };
  if (isBelowOne(getSegmentsAttr()))
    return emitOpError("has ")
           << getSegmentsAttr().getInt() << " segments; at least 1";
  if (isBelowOne(getNewtonAttr()))
    return emitOpError("has ") << getNewtonAttr().getInt()
                               << " steps of Newton's iteration; at least 1";
  if (getNewton() && getInputs().empty())
    return emitOpError("is solved by Newton's iteration, but has no inputs; "
                       "leave 'newton' out");
  if (getTolerance() && !getNewton())
    return emitOpError("has a tolerance, but no 'newton' that it is for");
  if (getTolerance() &&
      !(getTolerance()->isFinite() && getTolerance()->convertToDouble() > 0))
    return emitOpError("has a tolerance that is no positive number");
  auto scalar = RankedTensorType::get({}, cellType());
  SmallVector<Type> wanted(getNewton() ? 2 : 0, scalar);
  if (llvm::equal(wanted, getReport().getTypes()))
    return success();
  if (wanted.empty())
    return emitOpError("has a report, but no 'newton' that it is of");
  return emitOpError("has a report that is not two of ") << scalar;
}

LogicalResult NonlinearScanOp::verifyRegions() {
  Block &block = getCell().front();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield)
    return emitOpError("has a region that does not end with linrec.yield");
  unsigned arguments =
      numStates() + getInputs().size() + getParameters().size();
  unsigned values = numStates() + getOutputs().size();
  if (block.getNumArguments() != arguments || yield.getNumOperands() != values)
    return emitOpError("has a region of ")
           << block.getNumArguments() << " arguments that yields "
           << yield.getNumOperands() << " values; " << numStates()
           << " states, " << getInputs().size() << " inputs and "
           << getParameters().size() << " parameters are " << arguments
           << " arguments, and " << numStates() << " states and "
           << getOutputs().size() << " outputs are " << values << " values";
  auto isOfCell = [&](Type type) { return type == cellType(); };
  if (!llvm::all_of(block.getArgumentTypes(), isOfCell) ||
      !llvm::all_of(yield.getOperandTypes(), isOfCell))
    return emitOpError("has a region whose arguments, or what it yields, are "
                       "not all ")
           << cellType();
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  for (Operation &op : block.without_terminator())
    if (!isPure(&op) || op.getNumRegions() > 0 ||
        !llvm::all_of(op.getOperandTypes(), isScalar) ||
        !llvm::all_of(op.getResultTypes(), isScalar))
      return emitOpError("has '")
             << op.getName()
             << "' in its region; a cell is of ops on scalars, without effects";
  if (getSegments() && !getNewton() && !isAffine())
    return emitOpError("is cut into segments, but its new states are no affine "
                       "functions of the old ones; add 'newton', or leave out "
                       "'segments'");
  return success();
}

//===----------------------------------------------------------------------===//
// Canonicalization
//===----------------------------------------------------------------------===//

namespace {
/// Drops inputs, parameters and outputs that nothing reads, and states that
/// only they themselves read.
struct DropUnused : OpRewritePattern<NonlinearScanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(NonlinearScanOp op,
                                PatternRewriter &rewriter) const override;
};
} // namespace

/// Whether what the region computes of this argument reaches yielded values
/// only that may be reached.
static bool reachesOnly(Value argument, Operation *yield,
                        llvm::function_ref<bool(unsigned)> mayReach) {
  SmallVector<Value> front = {argument};
  llvm::SmallDenseSet<Operation *> seen;
  while (!front.empty())
    for (OpOperand &use : front.pop_back_val().getUses()) {
      if (use.getOwner() == yield) {
        if (!mayReach(use.getOperandNumber()))
          return false;
        continue;
      }
      if (seen.insert(use.getOwner()).second)
        llvm::append_range(front, use.getOwner()->getResults());
    }
  return true;
}

namespace {
/// What can be left out: of what the region yields, and of its arguments.
struct Unread {
  llvm::BitVector values, arguments;
};
} // namespace

static Unread unreadOf(NonlinearScanOp op) {
  Operation *yield = op.getCell().front().getTerminator();
  unsigned states = op.numStates(), inputs = op.getInputs().size();
  Unread dead{llvm::BitVector(yield->getNumOperands()),
              llvm::BitVector(op.getCell().getNumArguments())};
  // With Newton's iteration, states decide how many steps there are.
  for (unsigned i = 0; i < states && !op.getNewton(); ++i)
    dead.values[i] = dead.arguments[i] =
        op.getFinals()[i].use_empty() &&
        reachesOnly(op.getCell().getArgument(i), yield,
                    [&](unsigned value) { return value == i; });
  // One state stays.
  if (dead.values.find_first_unset_in(0, states) == -1)
    dead.values[0] = dead.arguments[0] = false;
  for (auto [i, output] : llvm::enumerate(op.getOutputs()))
    dead.values[states + i] = output.use_empty();
  // Something has to say how many tokens there are: an input or, where there is
  // none, an output.
  if (inputs == 0)
    dead.values[states] = false;
  for (unsigned i = states; i < dead.arguments.size(); ++i)
    dead.arguments[i] =
        reachesOnly(op.getCell().getArgument(i), yield,
                    [&](unsigned value) { return dead.values[value]; });
  if (inputs > 0 &&
      dead.arguments.find_first_unset_in(states, states + inputs) == -1)
    dead.arguments[states] = false;
  return dead;
}

/// Erases what is dead from a region that is a copy of the op's.
static void eraseUnread(Block &block, const Unread &dead,
                        PatternRewriter &rewriter) {
  rewriter.modifyOpInPlace(block.getTerminator(), [&] {
    block.getTerminator()->eraseOperands(dead.values);
  });
  SmallVector<Operation *> backward;
  for (Operation &inner : llvm::reverse(block.without_terminator()))
    backward.push_back(&inner);
  for (Operation *inner : backward)
    if (isOpTriviallyDead(inner))
      rewriter.eraseOp(inner);
  block.eraseArguments(dead.arguments);
}

LogicalResult DropUnused::matchAndRewrite(NonlinearScanOp op,
                                          PatternRewriter &rewriter) const {
  Unread dead = unreadOf(op);
  if (dead.values.none() && dead.arguments.none())
    return failure();
  auto kept = [](ValueRange all, const llvm::BitVector &dead, unsigned from) {
    SmallVector<Value> rest;
    for (auto [i, value] : llvm::enumerate(all))
      if (!dead[from + i])
        rest.push_back(value);
    return rest;
  };
  unsigned states = op.numStates(), inputs = op.getInputs().size();
  SmallVector<Value> results = kept(op.getOutputs(), dead.values, states);
  unsigned outputs = results.size();
  llvm::append_range(results, kept(op.getFinals(), dead.arguments, 0));
  llvm::append_range(results, op.getReport());
  SmallVector<Type> types(ValueRange(results).getTypes());
  unsigned reports = op.getReport().size();
  auto smaller = NonlinearScanOp::create(
      rewriter, op.getLoc(), ArrayRef<Type>(types).take_front(outputs),
      ArrayRef<Type>(types).drop_front(outputs).drop_back(reports),
      ArrayRef<Type>(types).take_back(reports),
      kept(op.getInitial(), dead.arguments, 0),
      kept(op.getInputs(), dead.arguments, states),
      kept(op.getParameters(), dead.arguments, states + inputs),
      op.getReverseAttr(), op.getSegmentsAttr(), op.getNewtonAttr(),
      op.getToleranceAttr());
  rewriter.cloneRegionBefore(op.getCell(), smaller.getCell(),
                             smaller.getCell().end());
  eraseUnread(smaller.getCell().front(), dead, rewriter);
  for (auto [old, value] : llvm::zip_equal(results, smaller.getResults()))
    rewriter.replaceAllUsesWith(old, value);
  rewriter.eraseOp(op);
  return success();
}

/// The number that a tensor has everywhere, where that is known.
static std::optional<APFloat> everywhere(Value tensor) {
  APFloat number(0.0);
  Value scalar;
  if (auto splat = tensor.getDefiningOp<tensor::SplatOp>())
    scalar = splat.getInput();
  else if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    scalar = fill.value();
  if (scalar)
    return matchPattern(scalar, m_ConstantFloat(&number))
               ? std::optional(number)
               : std::nullopt;
  DenseElementsAttr elements;
  if (matchPattern(tensor, m_Constant(&elements)) && elements.isSplat())
    return elements.getSplatValue<APFloat>();
  return std::nullopt;
}

namespace {
/// What inputs and parameters have everywhere is a constant of the cell: it is
/// not read for each token, and cotangents of 0 are not added.
struct TakeConstants : OpRewritePattern<NonlinearScanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(NonlinearScanOp op,
                                PatternRewriter &rewriter) const override {
    bool changed = false;
    for (unsigned i = op.numStates(); i < op->getNumOperands(); ++i) {
      BlockArgument argument = op.getCell().getArgument(i);
      std::optional<APFloat> number = everywhere(op->getOperand(i));
      if (argument.use_empty() || !number)
        continue;
      changed = true;
      bool lossy;
      number->convert(op.cellType().getFloatSemantics(),
                      APFloat::rmNearestTiesToEven, &lossy);
      rewriter.setInsertionPointToStart(&op.getCell().front());
      Value constant = arith::ConstantOp::create(
          rewriter, op.getLoc(), rewriter.getFloatAttr(op.cellType(), *number));
      auto sumWith = [&]() -> arith::AddFOp {
        for (Operation *user : argument.getUsers())
          if (auto add = dyn_cast<arith::AddFOp>(user))
            return add;
        return nullptr;
      };
      while (arith::AddFOp add = number->isZero() ? sumWith() : nullptr)
        rewriter.replaceOp(add, add.getLhs() == argument ? add.getRhs()
                                                         : add.getLhs());
      rewriter.replaceAllUsesWith(argument, constant);
    }
    return success(changed);
  }
};
} // namespace

void NonlinearScanOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                  MLIRContext *context) {
  patterns.add<DropUnused, TakeConstants>(context);
}

} // namespace drawloom::linrec
