//===- MakeTotal.cpp - a result for every operand -------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Block/Block.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "passes/Graph/Interval.h"
#include "passes/Graph/Passes.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace drawloom {

#define GEN_PASS_DEF_MAKETOTAL
#include "passes/Graph/Passes.h.inc"

namespace {

enum class Kind { SignedDivision, Division, SignedRemainder, Remainder };

std::optional<Kind> divisionKind(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Kind>>(op)
      .Case<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
            index::DivSOp, index::FloorDivSOp, index::CeilDivSOp>(
          [](auto) { return Kind::SignedDivision; })
      .Case<arith::DivUIOp, arith::CeilDivUIOp, index::DivUOp,
            index::CeilDivUOp>([](auto) { return Kind::Division; })
      .Case<arith::RemSIOp, index::RemSOp>(
          [](auto) { return Kind::SignedRemainder; })
      .Case<arith::RemUIOp, index::RemUOp>([](auto) { return Kind::Remainder; })
      .Default([](Operation *) { return std::nullopt; });
}

bool isShift(Operation *op) {
  return isa<arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp, index::ShlOp,
             index::ShrUOp, index::ShrSOp>(op);
}

unsigned bitsOf(Type element) {
  return element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
}

/// Whether a divisor, one or a tensor of them, is neither 0 nor -1.
bool isHarmlessDivisor(Value divisor, Kind kind) {
  DenseIntElementsAttr elements;
  auto harmless = [&](const APInt &value) {
    bool isSigned =
        kind == Kind::SignedDivision || kind == Kind::SignedRemainder;
    return !value.isZero() && !(isSigned && value.isAllOnes());
  };
  APInt value;
  if (matchPattern(divisor, m_ConstantInt(&value)))
    return harmless(value);
  return matchPattern(divisor, m_Constant(&elements)) &&
         llvm::all_of(elements.getValues<APInt>(), harmless);
}

/// Whether an amount, one or a tensor of them, is below the number of bits.
bool isHarmlessShift(Value amount) {
  unsigned bits = bitsOf(getElementTypeOrSelf(amount.getType()));
  DenseIntElementsAttr elements;
  APInt value;
  if (matchPattern(amount, m_ConstantInt(&value)))
    return value.ult(bits);
  return matchPattern(amount, m_Constant(&elements)) &&
         llvm::all_of(elements.getValues<APInt>(),
                      [&](const APInt &value) { return value.ult(bits); });
}

/// Whether the result of an op is undefined for some operands that it may have.
bool isPartial(Operation *op) {
  if (std::optional<Kind> kind = divisionKind(op))
    return !isHarmlessDivisor(op->getOperand(1), *kind);
  if (isShift(op))
    return !isHarmlessShift(op->getOperand(1));
  return isa<arith::FPToSIOp, arith::FPToUIOp>(op);
}

/// The number of elements of `tensor` in a dimension, where a slice that it is,
/// or that a loop changes parts of, says which value that is.
Value extentValue(Value tensor, int64_t dim) {
  for (int i = 0; i < 16; ++i) {
    if (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>()) {
      llvm::SmallBitVector dropped = slice.getDroppedDims();
      for (auto [at, size] : llvm::enumerate(slice.getMixedSizes()))
        if (!dropped.test(at) && dim-- == 0)
          return dyn_cast<Value>(size);
      return {};
    }
    if (auto insert = tensor.getDefiningOp<tensor::InsertSliceOp>()) {
      tensor = insert.getDest();
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(tensor);
    auto loop = argument
                    ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                    : nullptr;
    if (!loop || argument == loop.getInductionVar())
      return {};
    // What the loop carries on has this extent, too.
    Value next = loop.getTiedLoopYieldedValue(argument)->get();
    while (auto insert = next.getDefiningOp<tensor::InsertSliceOp>())
      next = insert.getDest();
    if (next != argument)
      return {};
    tensor = loop.getTiedLoopInit(argument)->get();
  }
  return {};
}

/// Whether `offset` counts the whole pieces of `size` elements of what has
/// `extent`: from 0 to extent floordiv size * size, in steps of size.
bool countsWholePieces(Value offset, int64_t size, Value extent) {
  auto argument = dyn_cast<BlockArgument>(offset);
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : nullptr;
  if (!loop || argument != loop.getInductionVar() || size < 1 ||
      getConstantIntValue(loop.getLowerBound()) != 0 ||
      getConstantIntValue(loop.getStep()) != size)
    return false;
  auto end = loop.getUpperBound().getDefiningOp<affine::AffineApplyOp>();
  if (!end || end.getMapOperands().size() != 1 ||
      end.getMapOperands().front() != extent)
    return false;
  AffineMap map = end.getAffineMap();
  AffineExpr all = map.getNumDims() ? getAffineDimExpr(0, map.getContext())
                                    : getAffineSymbolExpr(0, map.getContext());
  return map.getResult(0) == all.floorDiv(size) * size;
}

struct MakeTotal : impl::MakeTotalBase<MakeTotal> {
  void runOnOperation() override;
};

/// Rewrites one op after the other.
class Rewrite {
public:
  explicit Rewrite(MLIRContext *context) : rewriter(context) {}

  /// Arithmetic that `isPartial`.
  void arithmetic(Operation *op);
  void extract(tensor::ExtractOp op);
  void insert(tensor::InsertOp op);
  LogicalResult slice(OffsetSizeAndStrideOpInterface op, Value tensor);
  /// Rows by number, of which a target tests the sign.
  void rows(OpOperand &indices, Value table);

private:
  FailureOr<Operation *> onScalars(Operation *op);
  void division(Operation *op, Kind kind);
  void shift(Operation *op);
  void toInteger(Operation *op);
  bool clampIndices(Operation *op, Value tensor, MutableOperandRange indices);
  Value extent(Operation *user, Value tensor, int64_t dim);
  Value clamp(ImplicitLocOpBuilder &b, Value value, OpFoldResult greatest,
              Interval known);

  static Value integer(ImplicitLocOpBuilder &b, Type type, const APInt &value) {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  }
  static Value select(ImplicitLocOpBuilder &b, Value condition, Value x,
                      Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  static Value equals(ImplicitLocOpBuilder &b, Value x, const APInt &value) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x,
                                 integer(b, x.getType(), value));
  }
  void replaceUses(Operation *op, Value with, Operation *except) {
    rewriter.replaceUsesWithIf(op->getResult(0), with, [&](OpOperand &use) {
      return use.getOwner() != except;
    });
  }

  IRRewriter rewriter;
};

/// What a tensor op computes at a point: it becomes a linalg.generic, and so
/// does a named op around it, whose body is nowhere written down.
FailureOr<Operation *> Rewrite::onScalars(Operation *op) {
  auto type = dyn_cast<ShapedType>(op->getResult(0).getType());
  if (!type)
    return op;
  if (!isa<RankedTensorType>(type))
    return failure();
  rewriter.setInsertionPoint(op);
  ImplicitLocOpBuilder b(op->getLoc(), rewriter);
  Value like = op->getOperand(0);
  Value empty = tensor::EmptyOp::create(
      b, tensor::getMixedSizes(b, op->getLoc(), like), type.getElementType());
  SmallVector<AffineMap> maps(op->getNumOperands() + 1,
                              b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  Operation *inner = nullptr;
  auto generic = linalg::GenericOp::create(
      b, type, op->getOperands(), ValueRange(empty), maps, loops,
      [&](OpBuilder &nested, Location loc, ValueRange elements) {
        OperationState state(loc, op->getName());
        state.addOperands(elements.drop_back());
        state.addTypes(type.getElementType());
        state.addAttributes(llvm::to_vector(op->getDiscardableAttrs()));
        state.propertiesAttr = op->getPropertiesAsAttribute();
        inner = nested.create(state);
        linalg::YieldOp::create(nested, loc, inner->getResults());
      });
  rewriter.replaceOp(op, generic);
  return inner;
}

void Rewrite::arithmetic(Operation *op) {
  FailureOr<Operation *> scalar = onScalars(op);
  if (failed(scalar))
    return;
  rewriter.setInsertionPoint(*scalar);
  if (std::optional<Kind> kind = divisionKind(*scalar))
    division(*scalar, *kind);
  else if (isShift(*scalar))
    shift(*scalar);
  else
    toInteger(*scalar);
}

/// x / 0 has all bits set, and leaves the remainder x; the quotient of the
/// smallest integer by -1 wraps to that integer, and leaves 0.
void Rewrite::division(Operation *op, Kind kind) {
  ImplicitLocOpBuilder b(op->getLoc(), rewriter);
  Value x = op->getOperand(0), y = op->getOperand(1);
  Type type = x.getType();
  unsigned bits = bitsOf(type);
  Value isZero = equals(b, y, APInt::getZero(bits));
  Value byOne = isZero;
  if (kind == Kind::SignedDivision || kind == Kind::SignedRemainder) {
    // Divided by 1, the smallest integer is what it has to be.
    Value overflows =
        arith::AndIOp::create(b, equals(b, x, APInt::getSignedMinValue(bits)),
                              equals(b, y, APInt::getAllOnes(bits)));
    byOne = arith::OrIOp::create(b, isZero, overflows);
  }
  Value one = integer(b, type, APInt(bits, 1));
  op->setOperand(1, select(b, byOne, one, y));
  b.setInsertionPointAfter(op);
  bool isRemainder = kind == Kind::SignedRemainder || kind == Kind::Remainder;
  Value ofZero = isRemainder ? x : integer(b, type, APInt::getAllOnes(bits));
  Value result = select(b, isZero, ofZero, op->getResult(0));
  replaceUses(op, result, result.getDefiningOp());
}

/// As if shifted bit by bit: everything falls out, and copies of the sign come
/// in where the shift is signed.
void Rewrite::shift(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), rewriter);
  Value x = op->getOperand(0), amount = op->getOperand(1);
  Type type = x.getType();
  unsigned bits = bitsOf(type);
  // Of one bit there is no amount but 0, and 1 has no place in it.
  Value last = integer(b, type, APInt(bits, bits - 1));
  Value bounded = arith::MinUIOp::create(b, amount, last);
  op->setOperand(1, bounded);
  if (isa<arith::ShRSIOp, index::ShrSOp>(op))
    return;
  Value isWide =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, amount, last);
  b.setInsertionPointAfter(op);
  Value zero = integer(b, type, APInt::getZero(bits));
  Value result = select(b, isWide, zero, op->getResult(0));
  replaceUses(op, result, result.getDefiningOp());
}

/// A number beyond the type becomes its nearest one, NaN 0.
void Rewrite::toInteger(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), rewriter);
  bool isSigned = isa<arith::FPToSIOp>(op);
  Value x = op->getOperand(0);
  auto type = cast<FloatType>(x.getType());
  Type to = op->getResult(0).getType();
  unsigned bits = bitsOf(to);
  auto number = [&](double value) -> Value {
    llvm::APFloat rounded(value);
    bool inexact;
    // What a narrow type cannot hold becomes infinite, and is beyond all that
    // it holds.
    rounded.convert(type.getFloatSemantics(),
                    llvm::APFloat::rmNearestTiesToEven, &inexact);
    return arith::ConstantOp::create(b, b.getFloatAttr(type, rounded));
  };
  // The first ones beyond. Where -2^n - 1 is rounded to -2^n, that is its own
  // nearest integer.
  Value above = number(std::ldexp(1.0, static_cast<int>(bits) - isSigned));
  Value below = number(
      isSigned ? -std::ldexp(1.0, static_cast<int>(bits) - 1) - 1 : -1.0);
  auto compare = [&](arith::CmpFPredicate predicate, Value bound) -> Value {
    return arith::CmpFOp::create(b, predicate, x, bound);
  };
  Value isAbove = compare(arith::CmpFPredicate::OGE, above);
  Value isBelow = compare(arith::CmpFPredicate::OLE, below);
  Value fits =
      arith::AndIOp::create(b, compare(arith::CmpFPredicate::OLT, above),
                            compare(arith::CmpFPredicate::OGT, below));
  op->setOperand(0, select(b, fits, x, number(0)));
  b.setInsertionPointAfter(op);
  Value greatest = integer(b, to,
                           isSigned ? APInt::getSignedMaxValue(bits)
                                    : APInt::getMaxValue(bits));
  Value least = integer(
      b, to, isSigned ? APInt::getSignedMinValue(bits) : APInt::getZero(bits));
  Operation *first =
      select(b, isBelow, least, op->getResult(0)).getDefiningOp();
  Value result = select(b, isAbove, greatest, first->getResult(0));
  replaceUses(op, result, first);
}

/// An extent as a value, made where a linalg op around `user` may read it.
Value Rewrite::extent(Operation *user, Value tensor, int64_t dim) {
  OpBuilder::InsertionGuard guard(rewriter);
  Operation *at = user;
  while (auto around = at->getParentOfType<linalg::LinalgOp>())
    at = around;
  rewriter.setInsertionPoint(at);
  return tensor::DimOp::create(rewriter, user->getLoc(), tensor, dim);
}

/// max(0, min(value, greatest)), without what `known` makes needless.
Value Rewrite::clamp(ImplicitLocOpBuilder &b, Value value,
                     OpFoldResult greatest, Interval known) {
  std::optional<int64_t> bound = getConstantIntValue(greatest);
  // One place fits, or none.
  if (bound && *bound <= 0)
    return arith::ConstantOp::create(b, b.getZeroAttr(value.getType()));
  // In 32 bits where these hold all that it may be, as of an index that was
  // read as such: GPUs have no instructions for more.
  bool narrow = bound && *bound <= INT32_MAX && known.least >= INT32_MIN &&
                known.greatest <= INT32_MAX;
  Type type = narrow ? Type(b.getI32Type()) : value.getType();
  auto as = [&](Type wanted, Value number) -> Value {
    return number.getType() == wanted
               ? number
               : arith::IndexCastOp::create(b, wanted, number).getResult();
  };
  Value inside = as(type, value);
  if (!bound || known.greatest > *bound)
    inside = arith::MinSIOp::create(
        b, inside,
        narrow ? integer(b, type, APInt(32, *bound, /*isSigned=*/true))
               : getValueOrCreateConstantIndexOp(b, b.getLoc(), greatest));
  // The bound itself may be negative where nobody knows it.
  if (known.least < 0 || !bound)
    inside = arith::MaxSIOp::create(
        b, inside,
        arith::ConstantOp::create(b, b.getZeroAttr(type)).getResult());
  return as(value.getType(), inside);
}

/// False where there is no element.
bool Rewrite::clampIndices(Operation *op, Value tensor,
                           MutableOperandRange indices) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (llvm::is_contained(type.getShape(), 0))
    return false;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    OpOperand &index = indices[dim];
    Interval known = intervalOf(index.get());
    if (!type.isDynamicDim(dim) && known.least >= 0 &&
        known.greatest < type.getDimSize(dim))
      continue;
    OpFoldResult greatest = rewriter.getIndexAttr(type.getDimSize(dim) - 1);
    rewriter.setInsertionPoint(op);
    if (type.isDynamicDim(dim)) {
      Value size = extent(op, tensor, dim);
      greatest = arith::SubIOp::create(
                     rewriter, op->getLoc(), size,
                     arith::ConstantIndexOp::create(rewriter, op->getLoc(), 1))
                     .getResult();
    }
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    index.set(clamp(b, index.get(), greatest, known));
  }
  return true;
}

void Rewrite::extract(tensor::ExtractOp op) {
  if (clampIndices(op, op.getTensor(), op.getIndicesMutable()))
    return;
  rewriter.setInsertionPoint(op);
  rewriter.replaceOpWithNewOp<arith::ConstantOp>(
      op, rewriter.getZeroAttr(op.getType()));
}

void Rewrite::insert(tensor::InsertOp op) {
  if (!clampIndices(op, op.getDest(), op.getIndicesMutable()))
    rewriter.replaceOp(op, op.getDest());
}

LogicalResult Rewrite::slice(OffsetSizeAndStrideOpInterface op, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets();
  SmallVector<OpFoldResult> sizes = op.getMixedSizes();
  SmallVector<OpFoldResult> strides = op.getMixedStrides();
  Operation *at = op;
  // A branch of a scf.forall's end holds nothing else.
  if (isa<tensor::ParallelInsertSliceOp>(at))
    at = at->getParentOp();
  rewriter.setInsertionPoint(at);
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  unsigned operand = op->getNumOperands();
  // The dynamic ones are the op's last operands. (Where the interface says they
  // start is wrong for tensor.parallel_insert_slice.)
  for (ArrayRef<OpFoldResult> values :
       {ArrayRef(offsets), ArrayRef(sizes), ArrayRef(strides)})
    operand -= llvm::count_if(values, llvm::IsaPred<Value>);
  for (auto [dim, offset, size, stride] :
       llvm::enumerate(offsets, sizes, strides)) {
    auto value = dyn_cast<Value>(offset);
    if (!value)
      continue;
    OpOperand &place = op->getOpOperand(operand++);
    std::optional<int64_t> sizeIs = getConstantIntValue(size);
    std::optional<int64_t> strideIs = getConstantIntValue(stride);
    // What is empty reads nothing; backwards nobody counts.
    if (sizeIs == 0 || !strideIs || *strideIs < 1)
      continue;
    OpFoldResult greatest;
    Interval known = intervalOf(value);
    if (sizeIs && !type.isDynamicDim(dim)) {
      int64_t last = type.getDimSize(dim) - 1 - (*sizeIs - 1) * *strideIs;
      if (last < 0)
        return op->emitOpError("takes ")
               << *sizeIs << " elements, " << *strideIs
               << " apart, in dimension " << dim << ", which has "
               << type.getDimSize(dim);
      if (known.least >= 0 && known.greatest <= last)
        continue;
      greatest = b.getIndexAttr(last);
    } else {
      if (Value extent = extentValue(tensor, dim);
          extent && sizeIs && *strideIs == 1 &&
          countsWholePieces(value, *sizeIs, extent))
        continue;
      auto index = [&](OpFoldResult given) {
        return getValueOrCreateConstantIndexOp(b, op.getLoc(), given);
      };
      OpFoldResult has = type.isDynamicDim(dim)
                             ? OpFoldResult(extent(at, tensor, dim))
                             : b.getIndexAttr(type.getDimSize(dim));
      AffineExpr s0, s1;
      bindSymbols(b.getContext(), s0, s1);
      greatest = affine::makeComposedFoldedAffineApply(
          b, op.getLoc(), s0 - 1 - (s1 - 1) * *strideIs,
          {index(has), index(size)});
    }
    place.set(clamp(b, value, greatest, known));
  }
  return success();
}

void Rewrite::rows(OpOperand &indices, Value table) {
  auto type = cast<RankedTensorType>(indices.get().getType());
  int64_t count = cast<RankedTensorType>(table.getType()).getDimSize(0);
  DenseIntElementsAttr known;
  if (matchPattern(indices.get(), m_Constant(&known)) &&
      !ShapedType::isDynamic(count) &&
      llvm::all_of(known.getValues<APInt>(), [&](const APInt &row) {
        return row.getSExtValue() < count;
      }))
    return;
  Operation *op = indices.getOwner();
  rewriter.setInsertionPoint(op);
  ImplicitLocOpBuilder b(op->getLoc(), rewriter);
  Value size = ShapedType::isDynamic(count)
                   ? extent(op, table, 0)
                   : arith::ConstantIndexOp::create(b, count).getResult();
  Type element = type.getElementType();
  AffineMap each = b.getMultiDimIdentityMap(1);
  auto named = linalg::GenericOp::create(
      b, type, indices.get(),
      tensor::EmptyOp::create(
          b, tensor::getMixedSizes(b, op->getLoc(), indices.get()), element)
          .getResult(),
      ArrayRef<AffineMap>{each, each}, utils::IteratorType::parallel,
      [&](OpBuilder &nested, Location loc, ValueRange row) {
        Value number = row[0];
        if (!element.isIndex())
          number = arith::IndexCastOp::create(nested, loc,
                                              nested.getIndexType(), number);
        Value there = arith::CmpIOp::create(
            nested, loc, arith::CmpIPredicate::slt, number, size);
        Value none = arith::ConstantOp::create(
            nested, loc, nested.getIntegerAttr(element, -1));
        linalg::YieldOp::create(
            nested, loc,
            arith::SelectOp::create(nested, loc, there, row[0], none)
                .getResult());
      });
  indices.set(named.getResult(0));
}

void MakeTotal::runOnOperation() {
  SmallVector<Operation *> ops;
  SmallVector<linalg::LinalgOp> named;
  getOperation()->walk([&](Operation *op) {
    auto around = op->getParentOfType<linalg::LinalgOp>();
    // Its body is the op's definition and not written down.
    bool isNamed =
        around && !isa<linalg::GenericOp, linalg::MapOp, linalg::ReduceOp>(
                      around.getOperation());
    if (isPartial(op)) {
      if (!isNamed)
        ops.push_back(op);
      else if (!llvm::is_contained(named, around))
        named.push_back(around);
    } else if (isa<tensor::ExtractOp, tensor::InsertOp, tensor::ExtractSliceOp,
                   tensor::InsertSliceOp, tensor::ParallelInsertSliceOp,
                   block::GatherOp, block::ScatterOp>(op)) {
      ops.push_back(op);
    }
  });
  IRRewriter rewriter(&getContext());
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::GenericOp> generic =
        linalg::generalizeNamedOp(rewriter, op);
    if (failed(generic))
      continue;
    (*generic)->walk([&](Operation *inner) {
      if (isPartial(inner))
        ops.push_back(inner);
    });
  }
  Rewrite rewrite(&getContext());
  for (Operation *op : ops) {
    LogicalResult result = success();
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](tensor::ExtractOp extract) { rewrite.extract(extract); })
        .Case([&](tensor::InsertOp insert) { rewrite.insert(insert); })
        .Case([&](tensor::ExtractSliceOp slice) {
          result = rewrite.slice(slice, slice.getSource());
        })
        .Case<tensor::InsertSliceOp, tensor::ParallelInsertSliceOp>(
            [&](auto slice) { result = rewrite.slice(slice, slice.getDest()); })
        .Case([&](block::GatherOp gather) {
          rewrite.rows(gather.getIndicesMutable(), gather.getSource());
        })
        .Case([&](block::ScatterOp scatter) {
          rewrite.rows(scatter.getIndicesMutable(), scatter.getDest());
        })
        .Default([&](Operation *) { rewrite.arithmetic(op); });
    if (failed(result))
      return signalPassFailure();
  }
}

} // namespace
} // namespace drawloom
