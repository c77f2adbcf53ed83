//===- Interval.cpp - what an index may be --------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Graph/Interval.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace drawloom {
namespace {

/// Ops that a value is followed through.
constexpr int deepest = 16;

Interval intervalOf(Value value, int depth);

Interval add(Interval a, Interval b) {
  Interval sum;
  // What overflows may wrap to anything.
  if (llvm::AddOverflow(a.least, b.least, sum.least) ||
      llvm::AddOverflow(a.greatest, b.greatest, sum.greatest) ||
      a.least == INT64_MIN || b.least == INT64_MIN || a.greatest == INT64_MAX ||
      b.greatest == INT64_MAX)
    return {};
  return sum;
}

Interval negate(Interval a) {
  if (a.least == INT64_MIN)
    return {};
  return {-a.greatest, -a.least};
}

Interval multiply(Interval a, Interval b) {
  Interval product{INT64_MAX, INT64_MIN};
  for (int64_t x : {a.least, a.greatest})
    for (int64_t y : {b.least, b.greatest}) {
      int64_t corner;
      if (llvm::MulOverflow(x, y, corner))
        return {};
      product.least = std::min(product.least, corner);
      product.greatest = std::max(product.greatest, corner);
    }
  return product;
}

/// Rounded down, by a positive constant.
Interval divide(Interval a, int64_t by) {
  return {llvm::divideFloorSigned(a.least, by),
          llvm::divideFloorSigned(a.greatest, by)};
}

Interval unite(Interval a, Interval b) {
  return {std::min(a.least, b.least), std::max(a.greatest, b.greatest)};
}

Interval constant(int64_t value) { return {value, value}; }

Interval intervalOf(OpFoldResult value, int depth) {
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return constant(*known);
  return intervalOf(cast<Value>(value), depth);
}

/// The steps of a loop whose bounds these are.
Interval ofLoop(OpFoldResult from, OpFoldResult to, OpFoldResult step,
                int depth) {
  Interval low = intervalOf(from, depth), high = intervalOf(to, depth);
  std::optional<int64_t> by = getConstantIntValue(step);
  if (!by || *by < 1 || high.greatest == INT64_MAX)
    return {low.least, INT64_MAX};
  int64_t last = high.greatest - 1;
  int64_t range;
  // From one place on, the last step is known.
  if (low.least == low.greatest && last >= low.least &&
      !llvm::SubOverflow(last, low.least, range))
    last = low.least + range / *by * *by;
  return {low.least, std::max(last, low.least)};
}

Interval ofExpression(AffineExpr expression, ArrayRef<Interval> dims,
                      ArrayRef<Interval> symbols) {
  if (auto known = dyn_cast<AffineConstantExpr>(expression))
    return constant(known.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expression))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expression);
  Interval a = ofExpression(binary.getLHS(), dims, symbols);
  Interval b = ofExpression(binary.getRHS(), dims, symbols);
  switch (expression.getKind()) {
  case AffineExprKind::Add:
    return add(a, b);
  case AffineExprKind::Mul:
    return multiply(a, b);
  case AffineExprKind::Mod:
    return b.least > 0 ? Interval{0, b.greatest - 1} : Interval();
  case AffineExprKind::FloorDiv:
    return b.least > 0 && b.least == b.greatest ? divide(a, b.least)
                                                : Interval();
  default:
    return {};
  }
}

SmallVector<Interval> intervalsOf(ValueRange values, int depth) {
  return llvm::map_to_vector(
      values, [&](Value value) { return intervalOf(value, depth); });
}

/// The results of a map; their least or greatest is one of them.
SmallVector<Interval> ofMap(AffineMap map, ValueRange operands, int depth) {
  SmallVector<Interval> all = intervalsOf(operands, depth);
  ArrayRef<Interval> given(all);
  return llvm::map_to_vector(map.getResults(), [&](AffineExpr expression) {
    return ofExpression(expression, given.take_front(map.getNumDims()),
                        given.drop_front(map.getNumDims()));
  });
}

Interval ofArgument(BlockArgument argument, int depth) {
  Operation *op = argument.getOwner()->getParentOp();
  if (auto loop = dyn_cast_or_null<scf::ForOp>(op)) {
    if (argument == loop.getInductionVar())
      return ofLoop(loop.getLowerBound(), loop.getUpperBound(), loop.getStep(),
                    depth);
  } else if (auto loop = dyn_cast_or_null<scf::ForallOp>(op)) {
    unsigned number = argument.getArgNumber();
    if (number < loop.getRank())
      return ofLoop(loop.getMixedLowerBound()[number],
                    loop.getMixedUpperBound()[number],
                    loop.getMixedStep()[number], depth);
  }
  return {};
}

/// What of `interval` a type holds.
Interval within(Interval interval, Type type) {
  if (!type.isInteger() || type.getIntOrFloatBitWidth() >= 64)
    return interval;
  unsigned bits = type.getIntOrFloatBitWidth();
  return {std::max(interval.least, llvm::minIntN(bits)),
          std::min(interval.greatest, llvm::maxIntN(bits))};
}

Interval intervalOf(Value value, int depth) {
  APInt known;
  if (matchPattern(value, m_ConstantInt(&known)))
    return known.getSignificantBits() <= 64 ? constant(known.getSExtValue())
                                            : Interval();
  if (--depth == 0)
    return {};
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofArgument(argument, depth);
  Operation *op = value.getDefiningOp();
  auto operand = [&](unsigned i) {
    return intervalOf(op->getOperand(i), depth);
  };
  // Types whose sums may wrap before 64 bits do are left alone.
  bool isWide = value.getType().isIndex() || value.getType().isInteger(64);
  auto wide = [&](Interval interval) { return isWide ? interval : Interval(); };
  return llvm::TypeSwitch<Operation *, Interval>(op)
      .Case([&](linalg::IndexOp index) {
        auto around = index->getParentOfType<linalg::LinalgOp>();
        int64_t range = around.getStaticLoopRanges()[index.getDim()];
        return Interval{0,
                        ShapedType::isDynamic(range) ? INT64_MAX : range - 1};
      })
      .Case([&](tensor::DimOp dim) {
        std::optional<int64_t> at = dim.getConstantIndex();
        auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
        if (!at || !type || *at >= type.getRank() || type.isDynamicDim(*at))
          return Interval{0, INT64_MAX};
        return constant(type.getDimSize(*at));
      })
      .Case<arith::IndexCastOp, arith::ExtSIOp>([&](auto cast) {
        // To a narrower type, bits may fall off.
        Type from = cast.getIn().getType();
        bool narrows = !isWide && (from.isIndex() || from.isInteger(64));
        return narrows ? Interval() : within(operand(0), from);
      })
      .Case([&](arith::AddIOp) { return wide(add(operand(0), operand(1))); })
      .Case([&](arith::SubIOp) {
        return wide(add(operand(0), negate(operand(1))));
      })
      .Case(
          [&](arith::MulIOp) { return wide(multiply(operand(0), operand(1))); })
      .Case([&](arith::MinSIOp) {
        Interval a = operand(0), b = operand(1);
        return Interval{std::min(a.least, b.least),
                        std::min(a.greatest, b.greatest)};
      })
      .Case([&](arith::MaxSIOp) {
        Interval a = operand(0), b = operand(1);
        return Interval{std::max(a.least, b.least),
                        std::max(a.greatest, b.greatest)};
      })
      .Case([&](arith::SelectOp) { return unite(operand(1), operand(2)); })
      .Case<arith::DivUIOp, arith::DivSIOp>([&](auto) {
        Interval a = operand(0), b = operand(1);
        return a.least >= 0 && b.least > 0 && b.least == b.greatest
                   ? divide(a, b.least)
                   : Interval();
      })
      .Case<arith::RemUIOp, arith::RemSIOp>([&](auto) {
        Interval a = operand(0), b = operand(1);
        return a.least >= 0 && b.least > 0
                   ? Interval{0, std::min(a.greatest, b.greatest - 1)}
                   : Interval();
      })
      .Case([&](arith::AndIOp) {
        Interval a = operand(0), b = operand(1);
        if (b.least < 0)
          std::swap(a, b);
        return b.least >= 0 ? Interval{0, b.greatest} : Interval();
      })
      .Case([&](affine::AffineApplyOp apply) {
        return ofMap(apply.getAffineMap(), apply.getMapOperands(), depth)
            .front();
      })
      .Case([&](affine::AffineMinOp least) {
        Interval result{INT64_MAX, INT64_MAX};
        for (Interval one : ofMap(least.getMap(), least.getOperands(), depth))
          result = {std::min(result.least, one.least),
                    std::min(result.greatest, one.greatest)};
        return result;
      })
      .Case([&](affine::AffineMaxOp greatest) {
        Interval result{INT64_MIN, INT64_MIN};
        for (Interval one :
             ofMap(greatest.getMap(), greatest.getOperands(), depth))
          result = {std::max(result.least, one.least),
                    std::max(result.greatest, one.greatest)};
        return result;
      })
      .Default([](Operation *) { return Interval(); });
}

} // namespace

Interval intervalOf(Value value) { return intervalOf(value, deepest); }

} // namespace drawloom
