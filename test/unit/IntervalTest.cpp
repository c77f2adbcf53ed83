//===- IntervalTest.cpp ---------------------------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Graph/Interval.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <gtest/gtest.h>
#include <random>

using namespace mlir;

namespace {

/// A value, and what it is for each of some arguments.
struct Known {
  Value value;
  std::array<int64_t, 12> is;
};

/// Random integer arithmetic, as ops and as numbers.
class Arithmetic {
public:
  Arithmetic(ImplicitLocOpBuilder &b, Block &block, unsigned seed)
      : b(b), random(seed) {
    for (int i = 0; i < 2; ++i) {
      Known argument{block.addArgument(b.getIndexType(), b.getLoc()), {}};
      for (int64_t &is : argument.is)
        is = pick(8) ? static_cast<int64_t>(pick(41)) - 20
                     : std::array<int64_t, 4>{INT64_MIN, INT64_MAX, INT32_MIN,
                                              INT32_MAX}[pick(4)];
      all.push_back(argument);
    }
  }

  const Known &grow() {
    Known x = all[pick(all.size())], y = all[pick(all.size())];
    bool small = pick(2);
    if (pick(2))
      y = number(small ? pick(9) + 1 : static_cast<int64_t>(pick(21)) - 10);
    auto wraps = [&](uint64_t (*of)(uint64_t, uint64_t)) {
      return [of](int64_t a, int64_t c) {
        return static_cast<int64_t>(
            of(static_cast<uint64_t>(a), static_cast<uint64_t>(c)));
      };
    };
    switch (pick(14)) {
    case 0:
      return both<arith::AddIOp>(
          x, y, wraps([](uint64_t a, uint64_t c) { return a + c; }));
    case 1:
      return both<arith::SubIOp>(
          x, y, wraps([](uint64_t a, uint64_t c) { return a - c; }));
    case 2:
      return both<arith::MulIOp>(
          x, y, wraps([](uint64_t a, uint64_t c) { return a * c; }));
    case 3:
      return both<arith::MinSIOp>(
          x, y, [](int64_t a, int64_t c) { return std::min(a, c); });
    case 4:
      return both<arith::MaxSIOp>(
          x, y, [](int64_t a, int64_t c) { return std::max(a, c); });
    case 5:
      return both<arith::AndIOp>(
          x, y, wraps([](uint64_t a, uint64_t c) { return a & c; }));
    case 6:
      return both<arith::DivSIOp>(x, divisor(),
                                  [](int64_t a, int64_t c) { return a / c; });
    case 7:
      return both<arith::RemSIOp>(x, divisor(),
                                  [](int64_t a, int64_t c) { return a % c; });
    case 8:
      return both<arith::DivUIOp>(
          x, divisor(), wraps([](uint64_t a, uint64_t c) { return a / c; }));
    case 9:
      return both<arith::RemUIOp>(
          x, divisor(), wraps([](uint64_t a, uint64_t c) { return a % c; }));
    case 10: {
      Known chosen{arith::SelectOp::create(
                       b,
                       arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                             x.value, y.value),
                       x.value, y.value),
                   {}};
      for (auto [i, is] : llvm::enumerate(chosen.is))
        is = std::min(x.is[i], y.is[i]);
      return keep(chosen);
    }
    case 11:
      return throughNarrow(x, y);
    case 12:
      return affine(x, y);
    default:
      return keep(number(static_cast<int64_t>(pick(101)) - 50));
    }
  }

private:
  uint64_t pick(uint64_t below) { return random() % below; }

  const Known &keep(const Known &known) {
    all.push_back(known);
    return all.back();
  }

  Known number(int64_t value) {
    Known known{arith::ConstantIndexOp::create(b, value), {}};
    known.is.fill(value);
    return known;
  }

  Known divisor() { return number(static_cast<int64_t>(pick(12)) + 1); }

  template <typename Op, typename Numbers>
  const Known &both(const Known &x, const Known &y, Numbers numbers) {
    Known made{Op::create(b, x.value, y.value), {}};
    for (auto [i, is] : llvm::enumerate(made.is))
      is = numbers(x.is[i], y.is[i]);
    return keep(made);
  }

  /// A sum in 32 bits, which may wrap.
  const Known &throughNarrow(const Known &x, const Known &y) {
    Type i32 = b.getI32Type();
    Value sum =
        arith::AddIOp::create(b, arith::IndexCastOp::create(b, i32, x.value),
                              arith::IndexCastOp::create(b, i32, y.value));
    Known made{arith::IndexCastOp::create(b, b.getIndexType(), sum), {}};
    for (auto [i, is] : llvm::enumerate(made.is))
      is = static_cast<int32_t>(static_cast<uint32_t>(x.is[i]) +
                                static_cast<uint32_t>(y.is[i]));
    return keep(made);
  }

  const Known &affine(const Known &x, const Known &y) {
    int64_t factor = static_cast<int64_t>(pick(9)) - 4, by = pick(7) + 1;
    AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1);
    auto of = [&](AffineExpr expression) {
      return AffineMap::get(0, 2, expression);
    };
    // Numbers that 64 bits do not hold are nobody's.
    auto bounded = [](const Known &known) {
      return llvm::all_of(known.is, [](int64_t is) {
        return is > INT64_MIN / 64 && is < INT64_MAX / 64;
      });
    };
    if (!bounded(x) || !bounded(y))
      return keep(number(factor));
    SmallVector<Value> operands{x.value, y.value};
    Known made;
    switch (pick(4)) {
    case 0:
      made.value =
          affine::AffineApplyOp::create(b, of(s0 * factor + s1), operands);
      for (auto [i, is] : llvm::enumerate(made.is))
        is = x.is[i] * factor + y.is[i];
      break;
    case 1:
      made.value = affine::AffineApplyOp::create(b, of((s0 - s1).floorDiv(by)),
                                                 operands);
      for (auto [i, is] : llvm::enumerate(made.is))
        is = llvm::divideFloorSigned(x.is[i] - y.is[i], by);
      break;
    case 2:
      made.value = affine::AffineApplyOp::create(b, of(s0 % by), operands);
      for (auto [i, is] : llvm::enumerate(made.is))
        is = llvm::mod(x.is[i], by);
      break;
    default: {
      AffineMap pair = AffineMap::get(0, 2, {s0 + factor, s1}, b.getContext());
      bool least = pick(2);
      made.value =
          least ? affine::AffineMinOp::create(b, pair, operands).getResult()
                : affine::AffineMaxOp::create(b, pair, operands).getResult();
      for (auto [i, is] : llvm::enumerate(made.is))
        is = least ? std::min(x.is[i] + factor, y.is[i])
                   : std::max(x.is[i] + factor, y.is[i]);
    }
    }
    return keep(made);
  }

  ImplicitLocOpBuilder &b;
  std::mt19937_64 random;
  SmallVector<Known> all;
};

} // namespace

TEST(IntervalTest, HoldsWhateverTheArithmeticGives) {
  MLIRContext context;
  context.loadDialect<affine::AffineDialect, arith::ArithDialect>();
  int bounded = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
    ImplicitLocOpBuilder b(module->getLoc(), &context);
    Block block;
    b.setInsertionPointToEnd(&block);
    Arithmetic arithmetic(b, block, seed);
    for (int i = 0; i < 12; ++i) {
      const Known &known = arithmetic.grow();
      drawloom::Interval interval = drawloom::intervalOf(known.value);
      bounded += interval.least != INT64_MIN && interval.greatest != INT64_MAX;
      for (int64_t is : known.is)
        ASSERT_TRUE(interval.least <= is && is <= interval.greatest)
            << is << " is not in [" << interval.least << ", "
            << interval.greatest << "], seed " << seed << ", op " << i;
    }
  }
  // What is always true says nothing.
  EXPECT_GT(bounded, 2000);
}
