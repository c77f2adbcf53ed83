//===- OpenSizes.cpp - what sizes of open extents are at most -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/kernels/OpenSizes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace drawloom::cpu {
namespace {

/// Nothing where it is not known, or 64 bits do not count it.
using Bound = std::optional<SizeBound>;

std::optional<int64_t> product(int64_t a, int64_t b) {
  int64_t value;
  return llvm::MulOverflow(a, b, value) ? std::nullopt : std::optional(value);
}

/// The same with numerators and divisor `by` times as large.
Bound widened(SizeBound bound, int64_t by) {
  for (int64_t *number : {&bound.constant, &bound.divisor}) {
    std::optional<int64_t> larger = product(*number, by);
    if (!larger)
      return std::nullopt;
    *number = *larger;
  }
  for (int64_t &times : bound.times) {
    std::optional<int64_t> larger = product(times, by);
    if (!larger)
      return std::nullopt;
    times = *larger;
  }
  return bound;
}

/// Combines the numerators over one divisor.
template <typename Fn> Bound combined(const Bound &a, const Bound &b, Fn fn) {
  if (!a || !b)
    return std::nullopt;
  int64_t common = std::gcd(a->divisor, b->divisor);
  Bound x = widened(*a, b->divisor / common),
        y = widened(*b, a->divisor / common);
  if (!x || !y)
    return std::nullopt;
  size_t extents = std::max(x->times.size(), y->times.size());
  x->times.resize(extents, 0);
  y->times.resize(extents, 0);
  bool counted = fn(x->constant, y->constant);
  for (auto [into, other] : llvm::zip_equal(x->times, y->times))
    counted &= fn(into, other);
  x->mayBeNegative |= y->mayBeNegative;
  return counted ? x : std::nullopt;
}

Bound sum(const Bound &a, const Bound &b) {
  return combined(a, b, [](int64_t &into, int64_t other) {
    return !llvm::AddOverflow(into, other, into);
  });
}

Bound larger(const Bound &a, const Bound &b) {
  Bound most = combined(a, b, [](int64_t &into, int64_t other) {
    into = std::max(into, other);
    return true;
  });
  if (most)
    most->mayBeNegative = a->mayBeNegative && b->mayBeNegative;
  return most;
}

Bound smaller(const Bound &a, const Bound &b) {
  if (!a || !b)
    return std::nullopt;
  // The one that does not grow, if there is one.
  Bound least = b->times.empty() ? b : a;
  least->mayBeNegative = a->mayBeNegative || b->mayBeNegative;
  return least;
}

Bound constant(int64_t value) { return SizeBound{{}, value, 1, value < 0}; }

std::optional<int64_t> constantOf(const Bound &bound) {
  if (!bound || !bound->times.empty() || bound->divisor != 1)
    return std::nullopt;
  return bound->constant;
}

Bound multiplied(Bound a, Bound b) {
  if (!constantOf(b))
    std::swap(a, b);
  std::optional<int64_t> by = constantOf(b);
  if (!a || !by || *by < 0)
    return std::nullopt;
  int64_t divisor = a->divisor;
  Bound value = widened(*a, *by);
  if (value)
    value->divisor = divisor;
  return value;
}

enum class Rounding { Down, Up };

Bound divided(const Bound &a, const Bound &b, Rounding rounding) {
  std::optional<int64_t> by = constantOf(b);
  if (!a || !by || *by <= 0)
    return std::nullopt;
  Bound value = rounding == Rounding::Up ? sum(a, constant(*by - 1)) : a;
  if (!value)
    return std::nullopt;
  std::optional<int64_t> divisor = product(value->divisor, *by);
  if (!divisor)
    return std::nullopt;
  value->divisor = *divisor;
  return value;
}

Bound ofExpression(AffineExpr expression, ArrayRef<Bound> dims,
                   ArrayRef<Bound> symbols) {
  if (auto dim = dyn_cast<AffineDimExpr>(expression))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return symbols[symbol.getPosition()];
  if (auto number = dyn_cast<AffineConstantExpr>(expression))
    return constant(number.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expression);
  Bound left = ofExpression(binary.getLHS(), dims, symbols),
        right = ofExpression(binary.getRHS(), dims, symbols);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return sum(left, right);
  case AffineExprKind::Mul:
    return multiplied(left, right);
  case AffineExprKind::FloorDiv:
    return divided(left, right, Rounding::Down);
  case AffineExprKind::CeilDiv:
    return divided(left, right, Rounding::Up);
  default:
    return std::nullopt;
  }
}

/// `combine` has no say where there is one result.
Bound ofMap(AffineMap map, ArrayRef<Bound> operands,
            Bound (*combine)(const Bound &, const Bound &)) {
  Bound all;
  for (auto [i, expression] : llvm::enumerate(map.getResults())) {
    Bound one = ofExpression(expression, operands.take_front(map.getNumDims()),
                             operands.drop_front(map.getNumDims()));
    all = i == 0 ? one : combine(all, one);
  }
  return all;
}

Bound ofOp(Operation *op, ArrayRef<Bound> operands) {
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return ofMap(apply.getAffineMap(), operands, larger);
  if (auto most = dyn_cast<affine::AffineMaxOp>(op))
    return ofMap(most.getAffineMap(), operands, larger);
  if (auto least = dyn_cast<affine::AffineMinOp>(op))
    return ofMap(least.getAffineMap(), operands, smaller);
  if (operands.size() != 2)
    return std::nullopt;
  const Bound &a = operands[0], &b = operands[1];
  if (isa<arith::AddIOp>(op))
    return sum(a, b);
  if (isa<arith::SubIOp>(op)) {
    std::optional<int64_t> less = constantOf(b);
    return less && *less >= 0 ? sum(a, constant(-*less)) : std::nullopt;
  }
  if (isa<arith::MulIOp>(op))
    return multiplied(a, b);
  if (isa<arith::MaxSIOp>(op))
    return larger(a, b);
  if (isa<arith::MinSIOp>(op))
    return smaller(a, b);
  if (isa<arith::FloorDivSIOp>(op))
    return divided(a, b, Rounding::Down);
  if (isa<arith::CeilDivSIOp>(op))
    return divided(a, b, Rounding::Up);
  // What rounds to zero rounds up below it.
  if (isa<arith::DivSIOp>(op))
    return divided(a, b, a && a->mayBeNegative ? Rounding::Up : Rounding::Down);
  // A negative number would be a large one.
  if (!a || a->mayBeNegative)
    return std::nullopt;
  if (isa<arith::DivUIOp>(op))
    return divided(a, b, Rounding::Down);
  if (isa<arith::CeilDivUIOp>(op))
    return divided(a, b, Rounding::Up);
  return std::nullopt;
}

/// Asks each value once: the ways to one may be many.
class Analysis {
public:
  Analysis(llvm::function_ref<SizeSource(Value)> source,
           SmallVectorImpl<Operation *> *ops)
      : source(source), ops(ops) {}

  Bound of(Value value, bool isHere) {
    if (auto found = known.find(value); found != known.end())
      return found->second;
    Bound bound = ofNew(value, isHere);
    known[value] = bound;
    return bound;
  }

private:
  Bound ofNew(Value value, bool isHere) {
    Operation *op = value.getDefiningOp();
    if (!op) {
      SizeSource from = source(value);
      if (!from.extent)
        return from.value ? of(from.value, /*isHere=*/false) : std::nullopt;
      SizeBound bound;
      bound.times.resize(*from.extent + 1, 0);
      bound.times[*from.extent] = 1;
      return bound;
    }
    APInt number;
    Bound bound;
    if (matchPattern(value, m_ConstantInt(&number))) {
      bound = constant(number.getSExtValue());
    } else {
      SmallVector<Bound> operands;
      for (Value operand : op->getOperands())
        operands.push_back(of(operand, isHere));
      bound = ofOp(op, operands);
    }
    if (ops && isHere)
      ops->push_back(op);
    return bound;
  }

  llvm::function_ref<SizeSource(Value)> source;
  SmallVectorImpl<Operation *> *ops;
  DenseMap<Value, Bound> known;
};

} // namespace

Bound boundOf(Value size, llvm::function_ref<SizeSource(Value)> source,
              SmallVectorImpl<Operation *> *ops) {
  return Analysis(source, ops).of(size, /*isHere=*/true);
}

} // namespace drawloom::cpu
