//===- RestrictLoops.cpp - loops without the terms that are zero ----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sum over k of terms that are 0 unless k - start is one of a few numbers,
// where `start` is loaded, is a loop over these numbers. The loops that say
// which start it is become loops in order; what is left is a small structured
// op on slices.
//
//===----------------------------------------------------------------------===//

#include "dialects/Block/Block.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Block/Passes.h"
#include <set>

using namespace mlir;
using linalg::GenericOp;

namespace drawloom {

#define GEN_PASS_DEF_RESTRICTLOOPS
#include "passes/Block/Passes.h.inc"

namespace {

/// So many steps of the innermost loop in order share what they have in
/// registers, and their slices the first-level cache.
constexpr int64_t stepsTogether = 8;

std::optional<int64_t> integer(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)))
    return std::nullopt;
  return number.getSExtValue();
}

/// The loop whose terms are 0 unless its index is at one of some `places` from
/// what an input says.
struct Restriction {
  unsigned loop;
  /// The index less the input, in the body.
  Value place;
  BlockArgument start;
  std::set<int64_t> places;
};

/// The place that a condition compares, if it does: true at it alone.
std::optional<int64_t> comparedPlace(Value condition, Value place) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq)
    return std::nullopt;
  if (compare.getLhs() == place)
    return integer(compare.getRhs());
  if (compare.getRhs() == place)
    return integer(compare.getLhs());
  return std::nullopt;
}

/// Whether a value is 0 at all places that no condition names. A product with 0
/// counts as 0.
bool isZeroElsewhere(Value value, Value place) {
  if (matchPattern(value, m_AnyZeroFloat()))
    return true;
  if (auto select = value.getDefiningOp<arith::SelectOp>())
    return isZeroElsewhere(select.getFalseValue(), place) &&
           (comparedPlace(select.getCondition(), place) ||
            isZeroElsewhere(select.getTrueValue(), place));
  if (auto product = value.getDefiningOp<arith::MulFOp>())
    return isZeroElsewhere(product.getLhs(), place) ||
           isZeroElsewhere(product.getRhs(), place);
  // Derivatives of a sum over places are sums of terms at each.
  if (isa_and_nonnull<arith::AddFOp, arith::SubFOp>(value.getDefiningOp()))
    return llvm::all_of(value.getDefiningOp()->getOperands(), [&](Value part) {
      return isZeroElsewhere(part, place);
    });
  if (auto fused = value.getDefiningOp<math::FmaOp>())
    return isZeroElsewhere(fused.getC(), place) &&
           (isZeroElsewhere(fused.getA(), place) ||
            isZeroElsewhere(fused.getB(), place));
  if (auto opposite = value.getDefiningOp<arith::NegFOp>())
    return isZeroElsewhere(opposite.getOperand(), place);
  if (auto wide = value.getDefiningOp<arith::ExtFOp>())
    return isZeroElsewhere(wide.getIn(), place);
  if (auto narrow = value.getDefiningOp<arith::TruncFOp>())
    return isZeroElsewhere(narrow.getIn(), place);
  return false;
}

/// What is added to a result: null if something else is done.
Value termOf(GenericOp op, unsigned result) {
  Value yielded = op.getBody()->getTerminator()->getOperand(result);
  Value sum = op.getRegionOutputArgs()[result];
  auto add = yielded.getDefiningOp<arith::AddFOp>();
  if (!add || !sum.hasOneUse())
    return {};
  if (add.getLhs() == sum)
    return add.getRhs();
  return add.getRhs() == sum ? add.getLhs() : Value();
}

/// Bounds of a tensor's elements, from what computes them: ops that clamp
/// numbers, and loops and blocks that write these into a tensor without
/// content.
class ClampedRange {
public:
  static std::optional<std::pair<int64_t, int64_t>> of(Value tensor) {
    ClampedRange range;
    return range.add(tensor) ? range.bounds : std::nullopt;
  }

private:
  /// Takes in what an element may be; false where that is not known.
  bool add(Value tensor);
  bool addArgument(BlockArgument argument);
  bool addClamped(GenericOp producer, unsigned result);

  /// None where nothing has been written.
  std::optional<std::pair<int64_t, int64_t>> bounds;
  llvm::SmallDenseSet<Value> seen;
};

bool ClampedRange::addClamped(GenericOp producer, unsigned result) {
  Value element = producer.getBody()->getTerminator()->getOperand(result);
  auto least = element.getDefiningOp<arith::MinSIOp>();
  auto greatest =
      least ? least.getLhs().getDefiningOp<arith::MaxSIOp>() : nullptr;
  if (!greatest)
    return false;
  std::optional<int64_t> low = integer(greatest.getRhs()),
                         high = integer(least.getRhs());
  if (!low || !high)
    return false;
  bounds = bounds ? std::make_pair(std::min(bounds->first, *low),
                                   std::max(bounds->second, *high))
                  : std::make_pair(*low, *high);
  return true;
}

bool ClampedRange::addArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    return argument != loop.getInductionVar() &&
           add(loop.getTiedLoopInit(argument)->get()) &&
           add(loop.getTiedLoopYieldedValue(argument)->get());
  if (auto blocks = dyn_cast<scf::ForallOp>(parent))
    return llvm::is_contained(blocks.getRegionIterArgs(), argument) &&
           add(blocks.getTiedOpOperand(argument)->get());
  return false;
}

bool ClampedRange::add(Value tensor) {
  if (!seen.insert(tensor).second)
    return true;
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return addArgument(argument);
  auto result = cast<OpResult>(tensor);
  Operation *op = result.getOwner();
  if (isa<tensor::EmptyOp>(op))
    return true;
  if (auto part = dyn_cast<tensor::ExtractSliceOp>(op))
    return add(part.getSource());
  if (auto part = dyn_cast<tensor::InsertSliceOp>(op))
    return add(part.getSource()) && add(part.getDest());
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return add(loop.getTiedLoopRegionIterArg(result));
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return add(branch.thenYield().getOperand(result.getResultNumber())) &&
           add(branch.elseYield().getOperand(result.getResultNumber()));
  if (auto producer = dyn_cast<GenericOp>(op))
    return addClamped(producer, result.getResultNumber());
  auto blocks = dyn_cast<scf::ForallOp>(op);
  if (!blocks)
    return false;
  BlockArgument shared = blocks.getTiedBlockArgument(result);
  return add(shared) &&
         llvm::all_of(blocks.getCombiningOps(shared), [&](Operation *written) {
           auto part = dyn_cast<tensor::ParallelInsertSliceOp>(written);
           return part && add(part.getSource());
         });
}

std::optional<Restriction> restrictionBy(GenericOp op, linalg::IndexOp index) {
  auto only = [](Value value) -> Operation * {
    return value.hasOneUse() ? *value.user_begin() : nullptr;
  };
  auto cast = dyn_cast_or_null<arith::IndexCastOp>(only(index));
  auto difference =
      cast ? dyn_cast_or_null<arith::SubIOp>(only(cast)) : nullptr;
  if (!difference || difference.getLhs() != cast.getResult())
    return std::nullopt;
  auto start = dyn_cast<BlockArgument>(difference.getRhs());
  if (!start || start.getOwner() != op.getBody())
    return std::nullopt;
  Restriction found{
      static_cast<unsigned>(index.getDim()), difference, start, {}};
  OpOperand *operand = op.getMatchingOpOperand(start);
  AffineMap map = op.getMatchingIndexingMap(operand);
  if (!map.isProjectedPermutation() || map.isFunctionOfDim(found.loop))
    return std::nullopt;
  for (Operation *user : difference->getUsers()) {
    std::optional<int64_t> place =
        comparedPlace(user->getResult(0), difference);
    if (!place)
      return std::nullopt;
    found.places.insert(*place);
  }
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    if (Value term = termOf(op, i); !term || !isZeroElsewhere(term, difference))
      return std::nullopt;
  int64_t extent = op.getStaticLoopRanges()[found.loop];
  std::optional<std::pair<int64_t, int64_t>> range =
      ClampedRange::of(operand->get());
  if (ShapedType::isDynamic(extent) || !range || found.places.empty() ||
      range->first + *found.places.begin() < 0 ||
      range->second + *found.places.rbegin() >= extent)
    return std::nullopt;
  return found;
}

std::optional<Restriction> restrictionOf(GenericOp op) {
  if (!op.hasPureTensorSemantics() ||
      llvm::any_of(op.getIndexingMapsArray(),
                   [](AffineMap map) { return !map.isProjectedPermutation(); }))
    return std::nullopt;
  for (auto index : op.getBody()->getOps<linalg::IndexOp>())
    if (std::optional<Restriction> found = restrictionBy(op, index))
      return found;
  return std::nullopt;
}

/// Writes the loops of one op.
class RestrictedLoops {
public:
  RestrictedLoops(GenericOp op, Restriction restriction, IRRewriter &b)
      : op(op), restriction(std::move(restriction)), b(b), loc(op.getLoc()),
        maps(op.getIndexingMapsArray()), indices(op.getNumLoops()) {
    for (AffineExpr dim :
         op.getMatchingIndexingMap(
               op.getMatchingOpOperand(this->restriction.start))
             .getResults())
      inOrder.push_back(cast<AffineDimExpr>(dim).getPosition());
    ranges = cast<linalg::LinalgOp>(*op).createLoopRanges(b, loc);
  }

  SmallVector<Value> build();

private:
  using Values = SmallVector<Value>;

  bool isInOrder(unsigned loop) const {
    return llvm::is_contained(inOrder, loop);
  }
  /// Whether an operand has a loop in its map.
  bool has(unsigned operand, unsigned loop) const {
    return maps[operand].isFunctionOfDim(loop);
  }
  unsigned operandOf(unsigned result) { return op.getNumDpsInputs() + result; }
  /// The loops of an operand that the small op has.
  SmallVector<unsigned> innerLoops(unsigned operand) const;

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Values loop(Value from, Value to, int64_t step, ValueRange carried,
              llvm::function_ref<Values(Value, ValueRange)> body);
  /// The loops in order but the last, from number `depth` on.
  Values outerLoops(unsigned depth, Value first, ValueRange carried);
  Values lastLoop(Value first, ValueRange carried);
  Values step(ValueRange carried);

  /// The part of an operand at the present indices; `at`: of the restricted
  /// loop.
  struct Part {
    SmallVector<OpFoldResult> offsets, sizes, strides;
    RankedTensorType type;
  };
  Part partOf(unsigned operand, Value at);
  Value read(Value tensor, const Part &part);
  Value write(Value value, Value tensor, const Part &part);

  /// One small op: adds to `sums`, of some results whose parts have the same
  /// loops, the terms of some places.
  Values add(ArrayRef<unsigned> results, ValueRange sums,
             ArrayRef<int64_t> places);
  /// The terms of results in the body of a small op.
  Values terms(ArrayRef<unsigned> results, int64_t place,
               ArrayRef<Value> arguments, ArrayRef<unsigned> loops);

  GenericOp op;
  Restriction restriction;
  IRRewriter &b;
  Location loc;
  SmallVector<AffineMap> maps;
  SmallVector<Range> ranges;
  SmallVector<unsigned> inOrder;
  /// Of the loops in order.
  Values indices;
  /// Of the inputs that have nothing but loops in order.
  llvm::DenseMap<unsigned, Value> scalars;
  Value start;
};

} // namespace

SmallVector<unsigned> RestrictedLoops::innerLoops(unsigned operand) const {
  SmallVector<unsigned> loops;
  for (AffineExpr result : maps[operand].getResults())
    if (unsigned loop = cast<AffineDimExpr>(result).getPosition();
        !isInOrder(loop) && loop != restriction.loop)
      loops.push_back(loop);
  return loops;
}

SmallVector<Value>
RestrictedLoops::loop(Value from, Value to, int64_t step, ValueRange carried,
                      llvm::function_ref<Values(Value, ValueRange)> body) {
  auto made = scf::ForOp::create(
      b, loc, from, to, index(step), carried,
      [&](OpBuilder &, Location loc, Value i, ValueRange values) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(i.getParentBlock());
        Values next = body(i, values);
        scf::YieldOp::create(b, loc, next);
      });
  return made.getResults();
}

RestrictedLoops::Part RestrictedLoops::partOf(unsigned operand, Value at) {
  Part part;
  SmallVector<int64_t> shape;
  for (AffineExpr result : maps[operand].getResults()) {
    unsigned loop = cast<AffineDimExpr>(result).getPosition();
    part.strides.push_back(b.getIndexAttr(1));
    if (loop == restriction.loop || isInOrder(loop)) {
      part.offsets.push_back(loop == restriction.loop ? at : indices[loop]);
      part.sizes.push_back(b.getIndexAttr(1));
      continue;
    }
    part.offsets.push_back(b.getIndexAttr(0));
    part.sizes.push_back(ranges[loop].size);
    shape.push_back(
        getConstantIntValue(ranges[loop].size).value_or(ShapedType::kDynamic));
  }
  part.type = RankedTensorType::get(
      shape, getElementTypeOrSelf(op->getOperand(operand).getType()));
  return part;
}

Value RestrictedLoops::read(Value tensor, const Part &part) {
  return tensor::ExtractSliceOp::create(b, loc, part.type, tensor, part.offsets,
                                        part.sizes, part.strides);
}

Value RestrictedLoops::write(Value value, Value tensor, const Part &part) {
  return tensor::InsertSliceOp::create(b, loc, value, tensor, part.offsets,
                                       part.sizes, part.strides);
}

SmallVector<Value> RestrictedLoops::build() {
  Values results(op.getDpsInits());
  Value count =
      getValueOrCreateConstantIndexOp(b, loc, ranges[inOrder.back()].size);
  return loop(index(0), count, stepsTogether, results,
              [&](Value first, ValueRange carried) {
                return outerLoops(0, first, carried);
              });
}

SmallVector<Value> RestrictedLoops::outerLoops(unsigned depth, Value first,
                                               ValueRange carried) {
  if (depth + 1 == inOrder.size())
    return lastLoop(first, carried);
  unsigned number = inOrder[depth];
  Value count = getValueOrCreateConstantIndexOp(b, loc, ranges[number].size);
  return loop(index(0), count, 1, carried, [&](Value i, ValueRange values) {
    indices[number] = i;
    return outerLoops(depth + 1, first, values);
  });
}

SmallVector<Value> RestrictedLoops::lastLoop(Value first, ValueRange carried) {
  unsigned last = inOrder.back();
  OpFoldResult count = ranges[last].size;
  std::optional<int64_t> known = getConstantIntValue(count);
  Value to = arith::AddIOp::create(b, loc, first, index(stepsTogether));
  if (!known || *known % stepsTogether != 0)
    to = arith::MinSIOp::create(b, loc, to,
                                getValueOrCreateConstantIndexOp(b, loc, count));
  // What all steps add to is taken out before them.
  auto isShared = [&](unsigned result) {
    return !has(operandOf(result), last) &&
           !has(operandOf(result), restriction.loop);
  };
  Values parts(carried);
  for (unsigned i = 0; i < parts.size(); ++i)
    if (isShared(i))
      parts[i] = read(carried[i], partOf(operandOf(i), {}));
  parts = loop(first, to, 1, parts, [&](Value i, ValueRange values) {
    indices[last] = i;
    return step(values);
  });
  for (unsigned i = 0; i < parts.size(); ++i)
    if (isShared(i))
      parts[i] = write(parts[i], carried[i], partOf(operandOf(i), {}));
  return parts;
}

SmallVector<Value> RestrictedLoops::step(ValueRange carried) {
  scalars.clear();
  for (unsigned operand = 0; operand < op.getNumDpsInputs(); ++operand) {
    if (has(operand, restriction.loop) || !innerLoops(operand).empty())
      continue;
    Values at;
    for (AffineExpr result : maps[operand].getResults())
      at.push_back(indices[cast<AffineDimExpr>(result).getPosition()]);
    scalars[operand] =
        tensor::ExtractOp::create(b, loc, op->getOperand(operand), at);
  }
  start = arith::IndexCastOp::create(
      b, loc, b.getIndexType(),
      scalars[op.getMatchingOpOperand(restriction.start)->getOperandNumber()]);

  Values next(carried);
  SmallVector<int64_t> all(restriction.places.begin(),
                           restriction.places.end());
  // Results that have the restricted loop: each place has a part of its own.
  // The others, as far as they have the same loops, together.
  std::map<SmallVector<unsigned>, SmallVector<unsigned>> together;
  for (unsigned i = 0; i < carried.size(); ++i)
    if (!has(operandOf(i), restriction.loop))
      together[innerLoops(operandOf(i))].push_back(i);
  for (auto &[loops, results] : together) {
    Values sums;
    for (unsigned i : results)
      sums.push_back(has(operandOf(i), inOrder.back())
                         ? read(next[i], partOf(operandOf(i), {}))
                         : next[i]);
    sums = add(results, sums, all);
    for (auto [i, sum] : llvm::zip_equal(results, sums))
      next[i] = has(operandOf(i), inOrder.back())
                    ? write(sum, next[i], partOf(operandOf(i), {}))
                    : sum;
  }
  for (unsigned i = 0; i < carried.size(); ++i) {
    if (!has(operandOf(i), restriction.loop))
      continue;
    for (int64_t place : all) {
      Value at = arith::AddIOp::create(b, loc, start, index(place));
      Part part = partOf(operandOf(i), at);
      Value sum = add({i}, {read(next[i], part)}, {place}).front();
      next[i] = write(sum, next[i], part);
    }
  }
  return next;
}

SmallVector<Value> RestrictedLoops::add(ArrayRef<unsigned> results,
                                        ValueRange sums,
                                        ArrayRef<int64_t> places) {
  // Loops of the small op: those of the results, then what they sum over.
  SmallVector<unsigned> loops = innerLoops(operandOf(results.front()));
  size_t parallel = loops.size();
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (loop != restriction.loop && !isInOrder(loop) &&
        !llvm::is_contained(loops, loop))
      loops.push_back(loop);
  auto mapOf = [&](unsigned operand) {
    SmallVector<AffineExpr> dims;
    for (unsigned loop : innerLoops(operand))
      dims.push_back(
          b.getAffineDimExpr(llvm::find(loops, loop) - loops.begin()));
    return AffineMap::get(loops.size(), 0, dims, b.getContext());
  };
  // Inputs, and where each place has them among the arguments.
  Values inputs;
  SmallVector<AffineMap> inputMaps;
  std::map<std::pair<unsigned, int64_t>, unsigned> positions;
  for (int64_t place : places)
    for (unsigned operand = 0; operand < op.getNumDpsInputs(); ++operand) {
      bool moves = has(operand, restriction.loop);
      if (scalars.contains(operand) || (!moves && place != places.front()))
        continue;
      Value at =
          moves ? arith::AddIOp::create(b, loc, start, index(place)) : Value();
      positions[{operand, moves ? place : 0}] = inputs.size();
      inputs.push_back(read(op->getOperand(operand), partOf(operand, at)));
      inputMaps.push_back(mapOf(operand));
    }
  for (unsigned i : results)
    inputMaps.push_back(mapOf(operandOf(i)));
  SmallVector<utils::IteratorType> iterators(loops.size(),
                                             utils::IteratorType::reduction);
  std::fill_n(iterators.begin(), parallel, utils::IteratorType::parallel);
  auto made = GenericOp::create(
      b, loc, TypeRange(sums), inputs, sums, inputMaps, iterators,
      [&](OpBuilder &inside, Location loc, ValueRange arguments) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(inside.getInsertionBlock());
        Values totals(results.size());
        Values next(arguments.take_back(results.size()));
        for (int64_t place : places) {
          Values given(op.getNumDpsInputs());
          for (unsigned operand = 0; operand < given.size(); ++operand) {
            if (Value scalar = scalars.lookup(operand)) {
              given[operand] = scalar;
              continue;
            }
            bool moves = has(operand, restriction.loop);
            given[operand] = arguments[positions[{operand, moves ? place : 0}]];
          }
          for (auto [i, term] :
               llvm::enumerate(terms(results, place, given, loops))) {
            if (matchPattern(term, m_AnyZeroFloat()))
              continue;
            // A reduction has one op that adds to it.
            Value &sum = parallel < loops.size() ? totals[i] : next[i];
            sum = sum ? arith::AddFOp::create(b, loc, sum, term) : term;
          }
        }
        for (auto [i, total] : llvm::enumerate(totals))
          if (total)
            next[i] = arith::AddFOp::create(b, loc, next[i], total);
        linalg::YieldOp::create(b, loc, next);
      });
  // What is summed has the same extent in programs for any others.
  if (llvm::all_of(ArrayRef(loops).drop_front(parallel), [&](unsigned loop) {
        return getConstantIntValue(ranges[loop].size).has_value();
      }))
    made->setAttr(block::withinRowsAttr, b.getUnitAttr());
  return made.getResults();
}

SmallVector<Value> RestrictedLoops::terms(ArrayRef<unsigned> results,
                                          int64_t place,
                                          ArrayRef<Value> arguments,
                                          ArrayRef<unsigned> loops) {
  IRMapping mapping;
  for (auto [old, now] : llvm::zip_equal(op.getRegionInputArgs(), arguments))
    mapping.map(old, now);
  Type type = restriction.place.getType();
  mapping.map(restriction.place, Value(arith::ConstantOp::create(
                                     b, loc, b.getIntegerAttr(type, place))));
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (inner.getNumResults() == 1 && mapping.contains(inner.getResult(0)))
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      unsigned loop = index.getDim();
      if (loop == restriction.loop)
        continue;
      Value now = indices[loop];
      if (!isInOrder(loop))
        now = linalg::IndexOp::create(b, loc,
                                      llvm::find(loops, loop) - loops.begin());
      mapping.map(index.getResult(), now);
      continue;
    }
    // What the sums so far go into, and the index as a number, is not asked
    // for.
    if (llvm::any_of(inner.getOperands(), [&](Value operand) {
          return operand.getParentBlock() == op.getBody() &&
                 !mapping.contains(operand);
        }))
      continue;
    if (auto add = dyn_cast<arith::AddFOp>(inner)) {
      // At most places all terms but one are 0.
      Value left = mapping.lookupOrDefault(add.getLhs());
      Value right = mapping.lookupOrDefault(add.getRhs());
      bool isLeft = matchPattern(right, m_AnyZeroFloat());
      if (isLeft || matchPattern(left, m_AnyZeroFloat())) {
        mapping.map(add.getResult(), isLeft ? left : right);
        continue;
      }
    }
    Operation *clone = b.clone(inner, mapping);
    SmallVector<Value> folded;
    if (succeeded(b.tryFold(clone, folded)) && !folded.empty()) {
      mapping.map(inner.getResults(), folded);
      b.eraseOp(clone);
    }
  }
  Values terms;
  for (unsigned i : results)
    terms.push_back(mapping.lookupOrDefault(termOf(op, i)));
  return terms;
}

namespace {
struct RestrictLoops : impl::RestrictLoopsBase<RestrictLoops> {
  void runOnOperation() override {
    SmallVector<std::pair<GenericOp, Restriction>> found;
    getOperation().walk([&](GenericOp op) {
      if (std::optional<Restriction> one = restrictionOf(op))
        found.emplace_back(op, std::move(*one));
    });
    for (auto &[op, restriction] : found) {
      IRRewriter rewriter(op);
      rewriter.replaceOp(
          op, RestrictedLoops(op, std::move(restriction), rewriter).build());
    }
    if (found.empty())
      return;
    // Inputs that no place needs.
    RewritePatternSet patterns(&getContext());
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

} // namespace drawloom
