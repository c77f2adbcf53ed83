//===- Structured.cpp - linalg ops in a Triton kernel ---------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A linalg op is elementwise work over its loops, followed by reductions. A
// value of its body is a tensor with one dimension for each loop, of extent 1
// where it does not depend on it, so that nothing is repeated before an op
// needs it so.
//
//===----------------------------------------------------------------------===//

#include "codegen/triton/KernelBuilder.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Block/Products.h"

using namespace mlir;
using namespace drawloom;
using namespace drawloom::triton;

/// Above this a loop nest is not a tile but a mistake: as registers of one
/// program it would be spilled many times over.
static constexpr int64_t kMaxSpace = 1 << 17;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

void KernelBuilder::unify(SmallVectorImpl<Ssa> &values) {
  SmallVector<int64_t> shape;
  for (const Ssa &value : values) {
    if (value.isScalar())
      continue;
    if (shape.empty())
      shape.assign(value.shape.size(), 1);
    for (auto [extent, own] : llvm::zip(shape, value.shape))
      extent = std::max(extent, own);
  }
  for (Ssa &value : values)
    value = print.broadcast(value, shape);
}

Ssa KernelBuilder::insideMask(ArrayRef<int64_t> extents,
                              ArrayRef<int64_t> shape,
                              ArrayRef<int64_t> dimensions) {
  Ssa mask;
  for (int64_t i : dimensions) {
    if (extents[i] == shape[i] || shape[i] == 1)
      continue;
    Ssa index = print.iota(shape[i], i, shape.size());
    Ssa inside =
        print.compare("arith.cmpi", "slt", index,
                      print.constant(print.i32(), extents[i], index.shape));
    SmallVector<Ssa> pair = {inside};
    if (mask) {
      pair.push_back(mask);
      unify(pair);
      inside = print.both(pair[0], pair[1]);
    }
    mask = inside;
  }
  return mask;
}

Ssa KernelBuilder::clearPadding(const Tile &tile,
                                ArrayRef<int64_t> dimensions) {
  if (tile.zeroPadding)
    return tile.value;
  Ssa mask = insideMask(tile.extents, tile.value.shape, dimensions);
  if (!mask)
    return tile.value;
  ArrayRef<int64_t> shape = tile.value.shape;
  return print.select(print.broadcast(mask, shape), tile.value,
                      print.constant(tile.value.element, 0, shape));
}

Ssa KernelBuilder::grow(const Ssa &value, int64_t dimension, int64_t extent) {
  int64_t own = value.shape[dimension];
  if (own >= extent)
    return value;
  // [.., own, ..] -> [.., copies, own, ..], all but the first copy zero.
  Ssa copies = print.expandDims(value, dimension);
  SmallVector<int64_t> shape(copies.shape);
  shape[dimension] = extent / own;
  copies = print.broadcast(copies, shape);
  Ssa index = print.iota(extent / own, dimension, shape.size());
  Ssa first = print.compare("arith.cmpi", "eq", index,
                            print.constant(print.i32(), 0, index.shape));
  copies = print.select(print.broadcast(first, shape), copies,
                        print.constant(value.element, 0, shape));
  SmallVector<int64_t> merged(value.shape);
  merged[dimension] = extent;
  return print.reshape(copies, merged);
}

Ssa KernelBuilder::shrink(const Ssa &value, int64_t dimension, int64_t extent) {
  if (value.shape[dimension] <= extent)
    return value;
  Ssa indices = extent == 1 ? print.constant(print.i32(), 0, {1})
                            : print.iota(extent, 0, 1);
  return take(value, indices, dimension);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

FailureOr<Ssa> KernelBuilder::lanesOf(AffineExpr expression,
                                      ArrayRef<int64_t> loops, Operation *op) {
  SmallVector<Ssa> indices;
  for (auto [i, extent] : llvm::enumerate(loops)) {
    indices.emplace_back();
    if (expression.isFunctionOfDim(i))
      indices.back() = print.convertInteger(print.iota(extent, i, loops.size()),
                                            print.i64());
  }
  return emitAffine(expression, indices, {}, op);
}

FailureOr<Ssa> KernelBuilder::operandLane(linalg::LinalgOp op,
                                          OpOperand &operand,
                                          ArrayRef<int64_t> loops) {
  if (!isa<ShapedType>(operand.get().getType()))
    return scalarOf(operand.get(), op);
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (!map.isProjectedPermutation(/*allowZeroInResults=*/true)) {
    // Every element is read at its own place.
    FailureOr<Entry> entry = entryOf(operand.get(), op);
    if (failed(entry))
      return failure();
    auto *view = std::get_if<View>(&*entry);
    if (!view)
      return refuse(op, "a tile is read through a map that is no permutation");
    SmallVector<Ssa> indices;
    SmallVector<int64_t> used;
    for (AffineExpr expression : map.getResults()) {
      FailureOr<Ssa> lanes = lanesOf(expression, loops, op);
      if (failed(lanes))
        return failure();
      indices.push_back(*lanes);
    }
    for (size_t i = 0; i < loops.size(); ++i)
      if (map.isFunctionOfDim(i))
        used.push_back(i);
    return loadElements(*view, indices, insideMask(ranges, loops, used), op);
  }
  FailureOr<Tile> tile = tileOf(operand.get(), op);
  if (failed(tile))
    return failure();
  // Dimensions that no loop walks have extent 1.
  SmallVector<int64_t> shape;
  SmallVector<std::pair<int64_t, int64_t>> byLoop;
  for (auto [i, expression] : llvm::enumerate(map.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(expression);
    if (!loop)
      continue;
    byLoop.push_back({loop.getPosition(), int64_t(shape.size())});
    shape.push_back(tile->value.shape[i]);
  }
  Ssa value = shape.empty() && !tile->value.isScalar()
                  ? print.reshape(tile->value, {})
                  : print.reshape(tile->value, shape);
  llvm::sort(byLoop);
  SmallVector<int64_t> order;
  for (auto [loop, position] : byLoop)
    order.push_back(position);
  value = print.transpose(value, order);
  if (value.isScalar())
    return value;
  size_t next = 0;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (next < byLoop.size() && byLoop[next].first == int64_t(i))
      ++next;
    else
      value = print.expandDims(value, i);
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

LogicalResult KernelBuilder::emitBodyOp(Operation *op,
                                        DenseMap<Value, Ssa> &lanes,
                                        ArrayRef<int64_t> loops) {
  auto linalgOp = cast<linalg::LinalgOp>(op->getParentOp());
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    lanes[op->getResult(0)] = print.convertInteger(
        print.iota(loops[index.getDim()], index.getDim(), loops.size()),
        print.i64());
    return success();
  }
  SmallVector<Ssa> operands;
  auto extract = dyn_cast<tensor::ExtractOp>(op);
  for (Value operand : op->getOperands()) {
    if (extract && operand == extract.getTensor())
      continue;
    if (auto found = lanes.find(operand); found != lanes.end()) {
      operands.push_back(found->second);
      continue;
    }
    FailureOr<Ssa> scalar = scalarOf(operand, op);
    if (failed(scalar))
      return failure();
    operands.push_back(*scalar);
  }
  if (extract) {
    FailureOr<Entry> entry = entryOf(extract.getTensor(), op);
    if (failed(entry))
      return failure();
    FailureOr<Ssa> result = failure();
    if (auto *view = std::get_if<View>(&*entry)) {
      // Lanes of the padding may have any index.
      SmallVector<int64_t> used;
      for (size_t i = 0; i < loops.size(); ++i)
        if (llvm::any_of(operands, [&](const Ssa &index) {
              return !index.isScalar() && index.shape[i] != 1;
            }))
          used.push_back(i);
      result = loadElements(
          *view, operands,
          insideMask(linalgOp.getStaticLoopRanges(), loops, used), op);
    } else {
      const Tile &table = std::get<Tile>(*entry);
      if (table.value.isScalar()) {
        lanes[op->getResult(0)] = table.value;
        return success();
      }
      // The tile as one row, and the place of each lane's element in it.
      Ssa place;
      for (auto [i, index] : llvm::enumerate(operands)) {
        Ssa term = print.convertInteger(index, print.i32());
        term = print.same("arith.maxsi",
                          {term, print.constant(print.i32(), 0, term.shape)});
        term =
            print.same("arith.minsi",
                       {term, print.constant(print.i32(), table.extents[i] - 1,
                                             term.shape)});
        SmallVector<Ssa> pair = {term};
        if (place) {
          Ssa scale =
              print.constant(print.i32(), table.value.shape[i], place.shape);
          pair.push_back(print.same("arith.muli", {place, scale}));
          unify(pair);
          place = print.same("arith.addi", pair);
        } else {
          place = term;
        }
      }
      int64_t count = ShapedType::getNumElements(table.value.shape);
      int64_t places = ShapedType::getNumElements(place.shape);
      Ssa taken = take(print.reshape(table.value, {count}),
                       print.reshape(place, {places}), 0);
      result = print.reshape(taken, place.shape);
    }
    if (failed(result))
      return failure();
    lanes[op->getResult(0)] = *result;
    return success();
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    FailureOr<Ssa> result = emitAffine(
        map.getResult(0), ArrayRef(operands).take_front(map.getNumDims()),
        ArrayRef(operands).drop_front(map.getNumDims()), op);
    if (failed(result))
      return failure();
    lanes[op->getResult(0)] = *result;
    return success();
  }
  if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
      op->getNumResults() != 1)
    return refuse(op, "it stands in the body of a linalg op");
  unify(operands);
  FailureOr<Ssa> result = emitElementwise(op, operands);
  if (failed(result))
    return failure();
  lanes[op->getResult(0)] = *result;
  return success();
}

namespace {
/// A result that combines what it had with terms: out + a + b.
struct Combination {
  /// The arith op, addf for differences.
  StringRef combiner;
  SmallVector<Value> terms;
  /// Which of them are subtracted.
  SmallVector<bool> negative;
  /// A product that math.fma adds; terms then hold both factors.
  SmallVector<std::pair<Value, Value>> products;
  SmallVector<Operation *> ops;
};
} // namespace

static std::optional<Combination> matchCombination(Value yielded,
                                                   BlockArgument out) {
  Combination match;
  Value value = yielded;
  while (value != out) {
    Operation *op = value.getDefiningOp();
    if (!op || !value.hasOneUse() || op->getBlock() != out.getOwner())
      return std::nullopt;
    StringRef name = op->getName().getStringRef();
    auto leadsToOut = [&](Value from) {
      SmallVector<Value> work = {from};
      while (!work.empty()) {
        Value next = work.pop_back_val();
        if (next == out)
          return true;
        if (Operation *def = next.getDefiningOp();
            def && def->getBlock() == out.getOwner())
          llvm::append_range(work, def->getOperands());
      }
      return false;
    };
    StringRef combiner = name;
    if (isa<arith::SubFOp>(op) || isa<math::FmaOp>(op))
      combiner = "arith.addf";
    else if (!isa<arith::AddFOp, arith::MulFOp, arith::MaximumFOp,
                  arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
                  arith::AddIOp, arith::MulIOp, arith::MaxSIOp, arith::MinSIOp,
                  arith::MaxUIOp, arith::MinUIOp, arith::AndIOp, arith::OrIOp,
                  arith::XOrIOp>(op))
      return std::nullopt;
    if (!match.combiner.empty() && match.combiner != combiner)
      return std::nullopt;
    match.combiner = combiner;
    match.ops.push_back(op);
    if (isa<math::FmaOp>(op)) {
      if (leadsToOut(op->getOperand(0)) || leadsToOut(op->getOperand(1)))
        return std::nullopt;
      match.products.push_back({op->getOperand(0), op->getOperand(1)});
      value = op->getOperand(2);
      continue;
    }
    bool first = leadsToOut(op->getOperand(0));
    bool second = leadsToOut(op->getOperand(1));
    if (first == second || (second && isa<arith::SubFOp>(op)))
      return std::nullopt;
    match.terms.push_back(op->getOperand(first ? 1 : 0));
    match.negative.push_back(isa<arith::SubFOp>(op));
    value = op->getOperand(first ? 0 : 1);
  }
  if (!out.hasOneUse())
    return std::nullopt;
  return match;
}

FailureOr<Tile> KernelBuilder::resultOf(linalg::LinalgOp op, unsigned result,
                                        DenseMap<Value, Ssa> &lanes,
                                        ArrayRef<int64_t> loops) {
  OpOperand *init = op.getDpsInitOperand(result);
  AffineMap map = op.getMatchingIndexingMap(init);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto type = cast<RankedTensorType>(init->get().getType());
  SmallVector<int64_t> extents(type.getShape());
  Value yielded = op.getBlock()->getTerminator()->getOperand(result);

  if (!map.isProjectedPermutation())
    return refuse(op, "a result is written through a map that is no "
                      "permutation");
  SmallVector<int64_t> reduced, kept;
  for (int64_t i = 0; i < int64_t(loops.size()); ++i)
    (map.isFunctionOfDim(i) ? kept : reduced).push_back(i);

  auto laneOf = [&](Value value) -> FailureOr<Ssa> {
    if (auto found = lanes.find(value); found != lanes.end())
      return found->second;
    return scalarOf(value, op);
  };
  auto broadcastTo = [&](Ssa value, ArrayRef<int64_t> dimensions) {
    SmallVector<int64_t> shape(loops.size(), 1);
    for (int64_t i : dimensions)
      shape[i] = loops[i];
    return print.broadcast(value, shape);
  };
  // From loops to the result's dimensions.
  auto toResult = [&](Ssa value) {
    SmallVector<int64_t> shape, order;
    for (int64_t i : kept)
      shape.push_back(loops[i]);
    value = print.reshape(value, shape);
    for (AffineExpr expression : map.getResults())
      order.push_back(
          llvm::find(kept, cast<AffineDimExpr>(expression).getPosition()) -
          kept.begin());
    return print.transpose(value, order);
  };

  if (reduced.empty()) {
    FailureOr<Ssa> value = laneOf(yielded);
    if (failed(value))
      return failure();
    return Tile{toResult(broadcastTo(*value, kept)), extents};
  }
  BlockArgument out = op.getMatchingBlockArgument(init);
  std::optional<Combination> match = matchCombination(yielded, out);
  Ssa sum;
  auto add = [&](Ssa term, bool negative) {
    if (!sum && negative)
      term = print.same("arith.subf",
                        {print.constant(term.element, 0, term.shape), term});
    if (sum) {
      SmallVector<Ssa> pair = {sum, term};
      unify(pair);
      term = print.same(negative ? "arith.subf" : match->combiner, pair);
    }
    sum = term;
  };
  for (auto [term, negative] : llvm::zip(match->terms, match->negative)) {
    FailureOr<Ssa> lane = laneOf(term);
    if (failed(lane))
      return failure();
    add(*lane, negative);
  }
  for (auto [a, b] : match->products) {
    FailureOr<Ssa> left = laneOf(a), right = laneOf(b);
    if (failed(left) || failed(right))
      return failure();
    SmallVector<Ssa> pair = {*left, *right};
    unify(pair);
    add(print.same("arith.mulf", pair), false);
  }
  SmallVector<int64_t> all(kept);
  llvm::append_range(all, reduced);
  sum = broadcastTo(sum, all);
  if (Ssa mask = insideMask(ranges, sum.shape, reduced))
    sum = print.select(print.broadcast(mask, sum.shape), sum,
                       print.neutral(match->combiner, sum.element, sum.shape));
  for (int64_t axis : llvm::reverse(reduced))
    sum = print.reduce(sum, axis, match->combiner);
  SmallVector<int64_t> shape;
  for (int64_t i : kept)
    shape.push_back(loops[i]);
  SmallVector<int64_t> order;
  for (AffineExpr expression : map.getResults())
    order.push_back(
        llvm::find(kept, cast<AffineDimExpr>(expression).getPosition()) -
        kept.begin());
  sum = print.transpose(sum, order);
  FailureOr<Tile> initial = tileOf(init->get(), op);
  if (failed(initial))
    return failure();
  return Tile{print.same(match->combiner, {initial->value, sum}), extents};
}

LogicalResult KernelBuilder::emitGeneric(linalg::LinalgOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t space = 1;
  for (int64_t range : ranges) {
    if (range == ShapedType::kDynamic)
      return refuse(op, "a dynamic tile");
    if (range == 0)
      return refuse(op, "a tile without elements");
    space *= powerOfTwoAbove(range);
  }
  if (space > kMaxSpace)
    return refuse(op, "a loop nest of " + Twine(space) +
                          " elements, too many for one program");
  SmallVector<int64_t> loops = paddedShape(ranges);
  DenseMap<Value, Ssa> lanes;
  Block *body = op.getBlock();

  // Ops that reductions are made of have no lanes.
  llvm::SmallPtrSet<Operation *, 8> combining;
  SmallVector<bool> reduces;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    reduces.push_back(map.getNumResults() < loops.size());
    if (!reduces.back())
      continue;
    unsigned i = init.getOperandNumber() - op.getNumDpsInputs();
    std::optional<Combination> match =
        matchCombination(body->getTerminator()->getOperand(i),
                         op.getMatchingBlockArgument(&init));
    if (!match)
      return refuse(op,
                    "a reduction that is not a chain of one associative op");
    combining.insert(match->ops.begin(), match->ops.end());
  }
  for (OpOperand &operand : op->getOpOperands()) {
    if (operand.getOperandNumber() >= body->getNumArguments())
      break;
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    int64_t init = int64_t(operand.getOperandNumber()) - op.getNumDpsInputs();
    if (argument.use_empty() || (init >= 0 && reduces[init]))
      continue;
    FailureOr<Ssa> lane = operandLane(op, operand, loops);
    if (failed(lane))
      return failure();
    lanes[argument] = *lane;
  }
  for (Operation &inner : body->without_terminator())
    if (!combining.contains(&inner) && failed(emitBodyOp(&inner, lanes, loops)))
      return failure();
  SmallVector<Tile> results;
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    FailureOr<Tile> tile = resultOf(op, i, lanes, loops);
    if (failed(tile))
      return failure();
    results.push_back(*tile);
  }
  for (auto [result, tile] : llvm::zip(op->getResults(), results))
    bind(result, tile);
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

FailureOr<bool> KernelBuilder::emitContraction(linalg::LinalgOp op) {
  if (!isPlainProduct(op))
    return false;
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  auto elementOf = [](Value value) {
    return getElementTypeOrSelf(value.getType());
  };
  Type resultElement = elementOf(op.getDpsInits()[0]);
  if (failed(dims) || dims->m.empty() || dims->n.empty() || dims->k.empty() ||
      !isa<FloatType>(resultElement) || op.hasDynamicShape())
    return false;
  for (Value input : op.getDpsInputs())
    if (!isa<FloatType>(elementOf(input)))
      return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (llvm::any_of(maps,
                   [](AffineMap map) { return !map.isProjectedPermutation(); }))
    return false;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (llvm::is_contained(ranges, 0))
    return refuse(op, "a tile without elements");

  auto positionIn = [](AffineMap map, unsigned loop) -> int64_t {
    return *map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
  };
  auto sortBy = [&](SmallVectorImpl<unsigned> &loops, AffineMap map) {
    llvm::sort(loops, [&](unsigned a, unsigned b) {
      return positionIn(map, a) < positionIn(map, b);
    });
  };
  SmallVector<unsigned, 2> batch = dims->batch, m = dims->m, n = dims->n,
                           k = dims->k;
  sortBy(batch, maps[2]);
  sortBy(m, maps[2]);
  sortBy(n, maps[2]);
  sortBy(k, maps[0]);

  // Sums are kept in f32, or f64 where the result is.
  Type sum = resultElement.isF64() ? resultElement : Type(print.f32());
  Type left = elementOf(op.getDpsInputs()[0]);
  Type right = elementOf(op.getDpsInputs()[1]);
  bool sameInputs = left == right && !sum.isF64() && !left.isF64();
  Type input = sameInputs ? left : sum;
  // Tensor cores need 16 of K, and f64 ones whole fragments; products of f32
  // run on ordinary cores in any size.
  int64_t least = input.isF32() ? 1 : 16;

  auto extentOf = [&](ArrayRef<unsigned> loops) {
    int64_t extent = 1;
    for (unsigned loop : loops)
      extent *= powerOfTwoAbove(ranges[loop]);
    return extent;
  };
  auto matrixOf = [&](Value value, AffineMap map, ArrayRef<unsigned> rows,
                      ArrayRef<unsigned> columns, ArrayRef<unsigned> cleared,
                      Type element) -> FailureOr<Ssa> {
    FailureOr<Tile> tile = tileOf(value, op);
    if (failed(tile))
      return failure();
    SmallVector<int64_t> clear, order;
    for (unsigned loop : cleared)
      clear.push_back(positionIn(map, loop));
    for (ArrayRef<unsigned> group : {ArrayRef<unsigned>(batch), rows, columns})
      for (unsigned loop : group)
        order.push_back(positionIn(map, loop));
    Ssa out = print.transpose(clearPadding(*tile, clear), order);
    SmallVector<int64_t> shape;
    if (!batch.empty())
      shape.push_back(extentOf(batch));
    shape.push_back(extentOf(rows));
    shape.push_back(extentOf(columns));
    out = print.convertFloat(print.reshape(out, shape), element);
    int64_t rank = shape.size();
    return grow(grow(out, rank - 2, least), rank - 1, least);
  };
  FailureOr<Ssa> a = matrixOf(op.getDpsInputs()[0], maps[0], m, k, k, input);
  FailureOr<Ssa> b = matrixOf(op.getDpsInputs()[1], maps[1], k, n, k, input);
  FailureOr<Ssa> c = matrixOf(op.getDpsInits()[0], maps[2], m, n, {}, sum);
  if (failed(a) || failed(b) || failed(c))
    return failure();
  Ssa product = print.dot(*a, *b, *c);
  int64_t rank = product.shape.size();
  product = shrink(product, rank - 2, extentOf(m));
  product = shrink(product, rank - 1, extentOf(n));
  SmallVector<int64_t> shape, order(maps[2].getNumResults());
  int64_t at = 0;
  for (ArrayRef<unsigned> group :
       {ArrayRef<unsigned>(batch), ArrayRef<unsigned>(m),
        ArrayRef<unsigned>(n)})
    for (unsigned loop : group) {
      shape.push_back(powerOfTwoAbove(ranges[loop]));
      order[positionIn(maps[2], loop)] = at++;
    }
  product = print.transpose(print.reshape(product, shape), order);
  auto type = cast<RankedTensorType>(op.getDpsInits()[0].getType());
  bind(op->getResult(0), Tile{print.convertFloat(product, resultElement),
                              SmallVector<int64_t>(type.getShape())});
  return true;
}

LogicalResult KernelBuilder::emitLinalg(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics())
    return refuse(op, "it works on memory");
  if (auto fill = dyn_cast<linalg::FillOp>(op.getOperation())) {
    auto type = cast<RankedTensorType>(fill.getDpsInits()[0].getType());
    if (!type.hasStaticShape())
      return refuse(op, "a dynamic tile");
    FailureOr<Ssa> scalar = scalarOf(fill.value(), op);
    if (failed(scalar))
      return failure();
    SmallVector<int64_t> extents(type.getShape());
    bind(op->getResult(0),
         Tile{print.broadcast(*scalar, paddedShape(extents)), extents});
    return success();
  }
  FailureOr<bool> done = emitContraction(op);
  if (failed(done))
    return failure();
  return *done ? success() : emitGeneric(op);
}

//===----------------------------------------------------------------------===//
// Scans and triangular systems
//===----------------------------------------------------------------------===//

LogicalResult KernelBuilder::emitScan(block::ScanOp op) {
  FailureOr<Tile> tile = tileOf(op.getInput(), op);
  if (failed(tile))
    return failure();
  Type element = elementInText(getElementTypeOrSelf(op.getInit().getType()));
  bool isFloat = isa<FloatType>(element);
  StringRef combiner;
  switch (op.getKind()) {
  case block::ScanKind::Add:
    combiner = isFloat ? "arith.addf" : "arith.addi";
    break;
  case block::ScanKind::Mul:
    combiner = isFloat ? "arith.mulf" : "arith.muli";
    break;
  case block::ScanKind::Max:
    combiner = isFloat ? "arith.maximumf" : "arith.maxsi";
    break;
  }
  int64_t axis = op.getDimension();
  int64_t rank = tile->extents.size();
  Ssa value = isFloat ? print.convertFloat(tile->value, element) : tile->value;
  Ssa neutral = print.neutral(combiner, element, value.shape);
  // From the end, padding comes first.
  if (op.getReverse())
    if (Ssa mask = insideMask(tile->extents, value.shape, {axis}))
      value = print.select(print.broadcast(mask, value.shape), value, neutral);
  value = print.scan(value, axis, op.getReverse(), combiner);
  if (op.getExclusive()) {
    int64_t extent = tile->extents[axis];
    int64_t padded = value.shape[axis];
    Ssa index = print.iota(padded, 0, 1);
    Ssa moved = print.same(op.getReverse() ? "arith.addi" : "arith.subi",
                           {index, print.constant(print.i32(), 1, {padded})});
    moved = print.same("arith.maxsi",
                       {moved, print.constant(print.i32(), 0, {padded})});
    moved =
        print.same("arith.minsi",
                   {moved, print.constant(print.i32(), extent - 1, {padded})});
    Ssa at = print.iota(padded, axis, rank);
    Ssa first = print.compare("arith.cmpi", "eq", at,
                              print.constant(print.i32(),
                                             op.getReverse() ? extent - 1 : 0,
                                             at.shape));
    value = print.select(print.broadcast(first, value.shape), neutral,
                         take(value, moved, axis));
  }
  bind(op.getResult(), Tile{value, tile->extents});
  return success();
}

LogicalResult KernelBuilder::emitSolve(block::SolveTriangularOp op) {
  FailureOr<Tile> matrix = tileOf(op.getMatrix(), op);
  FailureOr<Tile> rhs = tileOf(op.getRhs(), op);
  if (failed(matrix) || failed(rhs))
    return failure();
  int64_t n = matrix->extents[0];
  int64_t rows = matrix->value.shape[0];
  Type element = matrix->value.element;
  ArrayRef<int64_t> shape = rhs->value.shape;
  // Row i of the system along dimension 1; rows of unknowns along dimension 0.
  Ssa a = op.getTranspose() ? print.transpose(matrix->value, {1, 0})
                            : matrix->value;
  Ssa numbers = print.iota(rows, 0, 1);
  std::string result = print.fresh(), counter = print.fresh(),
              carried = print.fresh();
  auto i32 = [&](int64_t value) { return print.constant(print.i32(), value); };
  std::string type = typeText(rhs->value);
  print.open(result + " = scf.for " + counter + " = " + i32(0).name + " to " +
             i32(n).name + " step " + i32(1).name + " iter_args(" + carried +
             " = " + rhs->value.name + ") -> (" + type + ") : i32 {");
  Ssa x{carried, element, SmallVector<int64_t>(shape)};
  Ssa row{counter, print.i32(), {}};
  if (!op.solvesForward())
    row = print.same("arith.subi", {i32(n - 1), row});
  Ssa here = print.splat(row, {rows});
  Ssa isRow = print.compare("arith.cmpi", "eq", numbers, here);
  Ssa isSolved = print.compare("arith.cmpi", op.solvesForward() ? "slt" : "sgt",
                               numbers, here);
  isSolved = print.both(isSolved, insideMask({n}, {rows}, {0}));
  auto pick = [&](Ssa mask, const Ssa &value, bool sum) {
    mask = print.broadcast(mask.shape.size() < value.shape.size()
                               ? print.expandDims(mask, 1)
                               : mask,
                           value.shape);
    Ssa kept =
        print.select(mask, value, print.constant(element, 0, value.shape));
    return sum ? print.reduce(kept, 0, "arith.addf") : kept;
  };
  Ssa coefficients = pick(isRow, a, true);
  Ssa old = pick(isRow, x, true);
  Ssa weights = print.expandDims(pick(isSolved, coefficients, false), 1);
  Ssa terms = print.same("arith.mulf", {print.broadcast(weights, shape),
                                        pick(isSolved, x, false)});
  Ssa next =
      print.same("arith.subf", {old, print.reduce(terms, 0, "arith.addf")});
  if (!op.getUnit()) {
    Ssa diagonal = pick(isRow, coefficients, true);
    next = print.same("arith.divf", {next, print.splat(diagonal, next.shape)});
  }
  Ssa mask = print.broadcast(print.expandDims(isRow, 1), shape);
  Ssa updated =
      print.select(mask, print.broadcast(print.expandDims(next, 0), shape), x);
  print.line("scf.yield " + updated.name + " : " + type);
  print.close();
  bind(op.getResult(),
       Tile{Ssa{result, element, SmallVector<int64_t>(shape)}, rhs->extents});
  return success();
}
