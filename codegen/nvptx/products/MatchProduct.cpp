//===- MatchProduct.cpp - dense products that a library computes ----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/products/MatchProduct.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/Block/Products.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using drawloom::runtime::cuda::Kind;

namespace drawloom::nvptx {
namespace {

std::optional<Kind> kindOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (element.isF32())
    return Kind::F32;
  if (element.isF16())
    return Kind::F16;
  if (element.isBF16())
    return Kind::BF16;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// How matrices lie in memory
//===----------------------------------------------------------------------===//

/// Strides of an operand by the product's loops; 0 where it has not the loop.
using Strides = SmallVector<int64_t, 4>;

Strides stridesOf(Value value, AffineMap map) {
  Strides strides(map.getNumDims(), 0);
  int64_t stride = 1;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  for (int64_t i = static_cast<int64_t>(shape.size()) - 1; i >= 0; --i) {
    strides[map.getDimPosition(i)] = stride;
    stride *= shape[i];
  }
  return strides;
}

/// Several loops that are one: their extent, and what a step of the innermost
/// is in each of the operands.
struct Loop {
  int64_t extent = 1;
  std::array<int64_t, 3> steps = {};
};

/// Merges loops, outermost first in each operand; nothing where an operand does
/// not walk through them in steps of one size.
std::optional<Loop> mergeLoops(ArrayRef<unsigned> loops,
                               ArrayRef<int64_t> ranges,
                               ArrayRef<Strides> operands) {
  SmallVector<unsigned> order(loops);
  llvm::erase_if(order, [&](unsigned loop) { return ranges[loop] == 1; });
  auto size = [&](unsigned loop) {
    int64_t most = 0;
    for (const Strides &strides : operands)
      most = std::max(most, strides[loop]);
    return most;
  };
  llvm::sort(order, [&](unsigned a, unsigned b) { return size(a) > size(b); });
  Loop merged;
  for (unsigned loop : llvm::reverse(order)) {
    for (auto [i, strides] : llvm::enumerate(operands)) {
      if (merged.extent == 1)
        merged.steps[i] = strides[loop];
      else if (strides[loop] != merged.steps[i] * merged.extent)
        return std::nullopt;
    }
    merged.extent *= ranges[loop];
  }
  return merged;
}

/// Whether a matrix of these steps lies in memory by rows, or (`transposed`) by
/// columns; how far these are apart.
bool placeMatrix(int64_t rows, int64_t rowStep, int64_t columns,
                 int64_t columnStep, bool &transposed, int64_t &stride) {
  // A step that is never made may be any.
  if (columns == 1 && rows != 1 && rowStep == 1) {
    transposed = true;
    stride = rows;
    return true;
  }
  transposed = false;
  if (columns == 1 || columnStep == 1) {
    stride = rows == 1 ? columns : rowStep;
    return stride >= columns;
  }
  transposed = true;
  stride = columnStep;
  return (rows == 1 || rowStep == 1) && stride >= rows;
}

//===----------------------------------------------------------------------===//
// What stands before and behind the product
//===----------------------------------------------------------------------===//

/// An elementwise op of one result; null for others.
linalg::GenericOp elementwise(Operation *op) {
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  if (!generic || generic.getNumResults() != 1 ||
      generic.getNumParallelLoops() != generic.getNumLoops() ||
      !generic.getIndexingMapsArray().back().isIdentity() ||
      generic.payloadUsesValueFromOperand(generic.getDpsInitOperand(0)))
    return nullptr;
  return generic;
}

bool isZero(Value value) {
  return matchPattern(value, m_AnyZeroFloat()) &&
         !matchPattern(value, m_NegZeroFloat());
}

/// Whether a tensor holds zeros only.
bool isZeroes(Value tensor) {
  auto fill = tensor.getDefiningOp<linalg::FillOp>();
  return isZero(fill ? fill.getInputs()[0] : tensor);
}

/// What an expression in the body of an elementwise op makes of the product.
struct Epilogue {
  bool bias = false, relu = false, gelu = false;
  /// Rounded to the narrow type.
  bool rounded = false;
};

class BodyReader {
public:
  BodyReader(linalg::GenericOp op, Value product, Epilogue before, Kind narrow)
      : op(op), product(product), before(before), narrow(narrow) {}

  /// Nothing where it is none that the library knows.
  std::optional<Epilogue> read() {
    return readValue(op.getBody()->getTerminator()->getOperand(0));
  }
  Value bias;

private:
  std::optional<Epilogue> readValue(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      OpOperand *operand = op.getMatchingOpOperand(argument);
      if (operand->get() == product &&
          op.getMatchingIndexingMap(operand).isIdentity())
        return before;
      return std::nullopt;
    }
    Operation *def = value.getDefiningOp();
    if (auto round = dyn_cast<arith::TruncFOp>(def)) {
      if (kindOf(round.getType()) != narrow)
        return std::nullopt;
      std::optional<Epilogue> epilogue = readValue(round.getIn());
      if (epilogue)
        epilogue->rounded = true;
      return epilogue;
    }
    if (auto widen = dyn_cast<arith::ExtFOp>(def))
      return readValue(widen.getIn());
    if (auto add = dyn_cast<arith::AddFOp>(def)) {
      for (unsigned i : {0u, 1u})
        if (Value found = readBias(add->getOperand(1 - i)))
          if (std::optional<Epilogue> epilogue =
                  readValue(add->getOperand(i))) {
            if (epilogue->bias || epilogue->relu || epilogue->gelu ||
                epilogue->rounded)
              return std::nullopt;
            epilogue->bias = true;
            bias = found;
            return epilogue;
          }
      return std::nullopt;
    }
    if (Value curved = readGelu(value)) {
      std::optional<Epilogue> epilogue = readValue(curved);
      if (!epilogue || epilogue->relu || epilogue->gelu)
        return std::nullopt;
      // The library rounds what comes out, not what goes in.
      epilogue->rounded = false;
      epilogue->gelu = true;
      return epilogue;
    }
    Value clipped;
    if (auto maximum = dyn_cast<arith::MaximumFOp>(def)) {
      if (isZero(maximum.getRhs()))
        clipped = maximum.getLhs();
      else if (isZero(maximum.getLhs()))
        clipped = maximum.getRhs();
    } else if (auto select = dyn_cast<arith::SelectOp>(def)) {
      auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
      if (compare &&
          (compare.getPredicate() == arith::CmpFPredicate::UGT ||
           compare.getPredicate() == arith::CmpFPredicate::OGT) &&
          compare.getLhs() == select.getTrueValue() &&
          isZero(compare.getRhs()) && isZero(select.getFalseValue()))
        clipped = select.getTrueValue();
    }
    if (!clipped)
      return std::nullopt;
    std::optional<Epilogue> epilogue = readValue(clipped);
    if (epilogue && epilogue->gelu)
      return std::nullopt;
    if (epilogue)
      epilogue->relu = true;
    return epilogue;
  }

  /// The factor or summand beside `number` in a product or sum; null where
  /// there is none such.
  template <typename OpTy> static Value beside(Value value, double number) {
    auto op = value.getDefiningOp<OpTy>();
    if (!op)
      return nullptr;
    for (unsigned i : {0u, 1u}) {
      FloatAttr constant;
      // As written, or rounded to f32.
      if (matchPattern(op->getOperand(i), m_Constant(&constant)) &&
          std::abs(constant.getValueAsDouble() - number) <
              1e-7 * std::abs(number))
        return op->getOperand(1 - i);
    }
    return nullptr;
  }

  /// x of x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x x x))), which is what
  /// the library means by GELU; the form with erf is another function.
  static Value readGelu(Value value) {
    auto product = value.getDefiningOp<arith::MulFOp>();
    if (!product)
      return nullptr;
    for (unsigned i : {0u, 1u}) {
      Value x = beside<arith::MulFOp>(product->getOperand(i), 0.5);
      Value curve = beside<arith::AddFOp>(product->getOperand(1 - i), 1.0);
      auto tanh = curve ? curve.getDefiningOp<math::TanhOp>() : nullptr;
      Value inner =
          x && tanh ? beside<arith::MulFOp>(tanh.getOperand(),
                                            std::sqrt(2 / llvm::numbers::pi))
                    : Value();
      auto sum = inner ? inner.getDefiningOp<arith::AddFOp>() : nullptr;
      if (!sum)
        continue;
      for (unsigned j : {0u, 1u}) {
        Value cube = beside<arith::MulFOp>(sum->getOperand(1 - j), 0.044715);
        if (sum->getOperand(j) == x && cube && isPower(cube, x, 3))
          return x;
      }
    }
    return nullptr;
  }
  /// Whether a value is x multiplied by itself.
  static bool isPower(Value value, Value x, int exponent) {
    if (exponent == 1)
      return value == x;
    auto product = value.getDefiningOp<arith::MulFOp>();
    return product && ((product.getLhs() == x &&
                        isPower(product.getRhs(), x, exponent - 1)) ||
                       (product.getRhs() == x &&
                        isPower(product.getLhs(), x, exponent - 1)));
  }

  /// The vector along the innermost dimension that a value is read from.
  Value readBias(Value value) {
    if (auto widen = value.getDefiningOp<arith::ExtFOp>())
      value = widen.getIn();
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument)
      return nullptr;
    OpOperand *operand = op.getMatchingOpOperand(argument);
    AffineMap map = op.getMatchingIndexingMap(operand);
    if (map.getNumResults() != 1 || operand->get() == product ||
        !isa<RankedTensorType>(operand->get().getType()) ||
        map.getResult(0) !=
            getAffineDimExpr(op.getNumLoops() - 1, op.getContext()))
      return nullptr;
    return operand->get();
  }

  linalg::GenericOp op;
  Value product;
  Epilogue before;
  Kind narrow;
};

class Matcher {
public:
  explicit Matcher(linalg::LinalgOp op) { match.op = op; }
  std::optional<MatchedProduct> run();

private:
  bool placeMatrices();
  void readInit();
  void readFollowers();
  bool setBias(Value vector);
  void takeBackwards(Value value);

  MatchedProduct match;
  /// The roles of left and right are exchanged: the result lies by columns.
  bool exchanged = false;
  /// The last dimension of the result is the product's n.
  bool biasFits = false;
};

bool Matcher::placeMatrices() {
  linalg::LinalgOp op = match.op;
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  if (failed(dims))
    return false;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (llvm::is_contained(ranges, 0))
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (AffineMap map : maps)
    if (!map.isProjectedPermutation())
      return false;
  Value values[] = {op->getOperand(0), op->getOperand(1), op->getOperand(2)};
  SmallVector<Strides> strides;
  for (auto [value, map] : llvm::zip(values, maps))
    strides.push_back(stridesOf(value, map));
  auto merge = [&](ArrayRef<unsigned> loops,
                   ArrayRef<unsigned> of) -> std::optional<Loop> {
    SmallVector<Strides> chosen;
    for (unsigned i : of)
      chosen.push_back(strides[i]);
    std::optional<Loop> merged = mergeLoops(loops, ranges, chosen);
    if (!merged)
      return std::nullopt;
    Loop placed;
    placed.extent = merged->extent;
    for (auto [i, operand] : llvm::enumerate(of))
      placed.steps[operand] = merged->steps[i];
    return placed;
  };
  std::optional<Loop> m = merge(dims->m, {0, 2}), n = merge(dims->n, {1, 2}),
                      k = merge(dims->k, {0, 1}),
                      batch = merge(dims->batch, {0, 1, 2});
  if (!m || !n || !k || !batch)
    return false;
  Product &p = match.product;
  bool transposed = false;
  if (!placeMatrix(m->extent, m->steps[2], n->extent, n->steps[2], transposed,
                   p.resultStride))
    return false;
  unsigned left = 0, right = 1;
  if (transposed) {
    exchanged = true;
    std::swap(m, n);
    std::swap(left, right);
  }
  match.left = values[left];
  match.right = values[right];
  p.m = m->extent;
  p.n = n->extent;
  p.k = k->extent;
  p.batch = batch->extent;
  if (!placeMatrix(p.m, m->steps[left], p.k, k->steps[left], p.transposeLeft,
                   p.leftStride) ||
      !placeMatrix(p.k, k->steps[right], p.n, n->steps[right], p.transposeRight,
                   p.rightStride))
    return false;
  if (p.batch > 1) {
    p.leftBatch = batch->steps[left];
    p.rightBatch = batch->steps[right];
    p.resultBatch = batch->steps[2];
  }
  ArrayRef<unsigned> columns = exchanged ? dims->m : dims->n;
  biasFits = columns.size() == 1 &&
             maps[2].getResult(maps[2].getNumResults() - 1) ==
                 getAffineDimExpr(columns.front(), op.getContext());
  // Dimensions that are one and the same, for fusion along rows.
  auto relate = [&](unsigned a, unsigned b, int64_t first, int64_t second) {
    for (unsigned i = 0; i < maps[a].getNumResults(); ++i)
      for (unsigned j = 0; j < maps[b].getNumResults(); ++j)
        if (maps[a].getResult(i) == maps[b].getResult(j))
          match.sameDimensions.append({first, i, second, j});
  };
  relate(left, right, 0, 1);
  relate(left, 2, 0, 2);
  relate(right, 2, 1, 2);
  return checkProduct(p).empty();
}

/// Adds what defines a value to the ops, as far as it only makes up numbers.
void Matcher::takeBackwards(Value value) {
  Operation *def = value.getDefiningOp();
  if (!def || !isa<linalg::LinalgOp>(def) || !def->hasOneUse())
    return;
  match.ops.push_back(def);
}

bool Matcher::setBias(Value vector) {
  auto type = dyn_cast<RankedTensorType>(vector.getType());
  if (!biasFits || match.bias || !type || type.getRank() != 1 ||
      type.getDimSize(0) != match.product.n)
    return false;
  match.bias = vector;
  match.product.bias = true;
  return true;
}

/// What the sums start from.
void Matcher::readInit() {
  Value init = match.op.getDpsInits()[0];
  if (isZeroes(init)) {
    takeBackwards(init);
    return;
  }
  // Rounded numbers that were widened for the sums.
  Value narrow = init;
  if (linalg::GenericOp widen = elementwise(init.getDefiningOp()))
    if (widen.getNumDpsInputs() == 1 &&
        isa<arith::ExtFOp>(widen.getBody()->front()) &&
        widen.getBody()->getOperations().size() == 2) {
      AffineMap read = widen.getIndexingMapsArray().front();
      if (read.isIdentity())
        narrow = widen.getInputs()[0];
      // Spread along the rows on its way.
      else if (read.getNumResults() == 1 &&
               read.getResult(0) ==
                   getAffineDimExpr(read.getNumDims() - 1, read.getContext()) &&
               setBias(widen.getInputs()[0])) {
        takeBackwards(init);
        ++match.passes;
        return;
      }
    }
  if (auto broadcast = narrow.getDefiningOp<linalg::BroadcastOp>()) {
    auto type = cast<RankedTensorType>(narrow.getType());
    SmallVector<int64_t> outer =
        llvm::to_vector(llvm::seq<int64_t>(0, type.getRank() - 1));
    if (ArrayRef<int64_t>(outer) == broadcast.getDimensions() &&
        setBias(broadcast.getInput())) {
      takeBackwards(narrow);
      if (narrow != init)
        takeBackwards(init);
      ++match.passes;
      return;
    }
  }
  match.addend = narrow;
  if (narrow != init) {
    takeBackwards(init);
    ++match.passes;
  }
  match.product.addend = true;
  match.product.addendStride = match.product.resultStride;
  match.product.addendBatch = match.product.resultBatch;
}

/// Takes the ops behind the product that the library can do.
void Matcher::readFollowers() {
  Epilogue state;
  state.bias = match.product.bias;
  while (match.result.hasOneUse() && !match.widened) {
    linalg::GenericOp next = elementwise(*match.result.getUsers().begin());
    if (!next || next->getBlock() != match.op->getBlock())
      return;
    BodyReader reader(next, match.result, state, match.product.operands);
    std::optional<Epilogue> read = reader.read();
    if (!read)
      return;
    std::optional<Kind> kind = kindOf(next.getResult(0).getType());
    if (!kind)
      return;
    if (read->bias && !state.bias && !setBias(reader.bias))
      return;
    // What went in rounded must come out rounded.
    if (read->gelu && !state.gelu && !read->rounded &&
        match.product.result != Kind::F32)
      return;
    match.product.relu = read->relu;
    match.product.gelu = read->gelu;
    if (read->rounded) {
      match.product.result = match.product.operands;
      match.widened = *kind == Kind::F32;
    }
    match.result = next.getResult(0);
    match.ops.push_back(next);
    ++match.passes;
    state = *read;
  }
}

std::optional<MatchedProduct> Matcher::run() {
  linalg::LinalgOp op = match.op;
  if (!op.hasPureTensorSemantics() || op.hasDynamicShape() ||
      op->getNumResults() != 1 || op.getNumDpsInputs() != 2 ||
      !isPlainProduct(op))
    return std::nullopt;
  std::optional<Kind> left = kindOf(op->getOperand(0).getType()),
                      right = kindOf(op->getOperand(1).getType()),
                      sums = kindOf(op->getResult(0).getType());
  if (!left || left != right || sums != Kind::F32 ||
      op.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>() || !placeMatrices())
    return std::nullopt;
  match.product.operands = *left;
  match.product.result = Kind::F32;
  match.result = op->getResult(0);
  match.ops.push_back(op);
  MatchedProduct bare = match;
  readInit();
  readFollowers();
  // The library wants what it adds to be of its result's type.
  auto fits = [](const MatchedProduct &candidate) {
    for (Value added : {candidate.addend, candidate.bias})
      if (added && kindOf(added.getType()) != candidate.product.result)
        return false;
    return true;
  };
  if (fits(match))
    return match;
  match = bare;
  Value init = op.getDpsInits()[0];
  if (isZeroes(init)) {
    readFollowers();
    if (fits(match))
      return match;
    match = bare;
  } else {
    match.addend = init;
    match.product.addend = true;
    match.product.addendStride = match.product.resultStride;
    match.product.addendBatch = match.product.resultBatch;
  }
  return match;
}

} // namespace

std::optional<MatchedProduct> matchProduct(linalg::LinalgOp op) {
  return Matcher(op).run();
}

} // namespace drawloom::nvptx
