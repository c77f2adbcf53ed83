//===- LowerMath.cpp - elementary functions on a GPU ---------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/MathFunctions.h"
#include "codegen/nvptx/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/MapVector.h"

namespace drawloom::nvptx {
#define GEN_PASS_DEF_NVPTXLOWERMATH
#include "codegen/nvptx/Passes.h.inc"
} // namespace drawloom::nvptx

using namespace mlir;

namespace drawloom::nvptx {
namespace {

Value callIntrinsic(OpBuilder &builder, Location loc, StringRef name,
                    ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(builder, loc, operands[0].getType(),
                                       builder.getStringAttr(name), operands)
      .getResult(0);
}

Value number(OpBuilder &builder, Location loc, float value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getF32FloatAttr(value));
}

/// Whether a few units in the last place do not matter.
bool isApproximate(arith::ArithFastMathInterface op) {
  return bitEnumContainsAny(op.getFastMathFlagsAttr().getValue(),
                            arith::FastMathFlags::afn);
}

/// e^x = 2^h (1 + l ln 2) with h + l = x log2 e: the product's rounding error l
/// would otherwise grow with x. ex2.approx is good to 2 ulp.
struct ExpByEx2 : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    Location loc = op.getLoc();
    Value x = op.getOperand();
    Value high = number(rewriter, loc, 0x1.715476p+0f);
    Value low = number(rewriter, loc, 0x1.4ae0bep-26f);
    Value h = arith::MulFOp::create(rewriter, loc, x, high);
    if (isApproximate(op)) {
      rewriter.replaceOp(
          op, callIntrinsic(rewriter, loc, "llvm.nvvm.ex2.approx.ftz.f32", h));
      return success();
    }
    Value error = math::FmaOp::create(rewriter, loc, x, high,
                                      arith::NegFOp::create(rewriter, loc, h));
    error = math::FmaOp::create(rewriter, loc, x, low, error);
    Value power =
        callIntrinsic(rewriter, loc, "llvm.nvvm.ex2.approx.ftz.f32", h);
    Value corrected = math::FmaOp::create(
        rewriter, loc, arith::MulFOp::create(rewriter, loc, power, error),
        number(rewriter, loc, 0x1.62e43p-1f), power);
    // Infinities and zeros are right already; corrected, they were NaN.
    Value scaled = arith::SubFOp::create(rewriter, loc, power, power);
    Value finite =
        arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::OEQ, scaled,
                              number(rewriter, loc, 0));
    Value small = arith::CmpFOp::create(
        rewriter, loc, arith::CmpFPredicate::OLT,
        math::AbsFOp::create(rewriter, loc, x), number(rewriter, loc, 128));
    Value good = arith::AndIOp::create(rewriter, loc, finite, small);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, good, corrected, power);
    return success();
  }
};

/// e^x in f64: 2^k e^r with |r| <= ln 2 / 2, e^r by its series to the 13th
/// power, whose rest is below half an ulp. For scalars, such as the corrections
/// of an optimizer's step.
struct ExpOfF64 : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    Type f64 = rewriter.getF64Type(), i64 = rewriter.getI64Type();
    if (op.getType() != f64)
      return failure();
    Location loc = op.getLoc();
    auto real = [&](double value) -> Value {
      return arith::ConstantOp::create(rewriter, loc,
                                       rewriter.getF64FloatAttr(value));
    };
    auto whole = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(rewriter, loc,
                                       rewriter.getI64IntegerAttr(value));
    };
    auto fma = [&](Value a, Value b, Value c) -> Value {
      return math::FmaOp::create(rewriter, loc, a, b, c);
    };
    // Beyond, the result is infinite or zero whatever x is. NaN passes.
    Value x =
        arith::MinimumFOp::create(rewriter, loc, op.getOperand(), real(710));
    x = arith::MaximumFOp::create(rewriter, loc, x, real(-746));
    // Adding and taking away 1.5 * 2^52 rounds to a whole number.
    Value magic = real(0x1.8p52);
    Value k = fma(x, real(0x1.71547652b82fep+0), magic);
    k = arith::SubFOp::create(rewriter, loc, k, magic);
    Value r = fma(k, real(-0x1.62e42fefa39efp-1), x);
    r = fma(k, real(-0x1.abc9e3b39803fp-56), r);
    double factorial = 6227020800.0;
    Value sum = real(1 / factorial);
    for (int power = 12; power >= 0; --power) {
      factorial /= power + 1;
      sum = fma(sum, r, real(1 / factorial));
    }
    // Half of the exponent at a time: 2^k itself may be out of range.
    Value exponent = arith::FPToSIOp::create(rewriter, loc, i64, k);
    Value half = arith::ShRSIOp::create(rewriter, loc, exponent, whole(1));
    Value rest = arith::SubIOp::create(rewriter, loc, exponent, half);
    for (Value part : {half, rest}) {
      Value bits = arith::AddIOp::create(rewriter, loc, part, whole(1023));
      bits = arith::ShLIOp::create(rewriter, loc, bits, whole(52));
      sum = arith::MulFOp::create(
          rewriter, loc, sum,
          arith::BitcastOp::create(rewriter, loc, f64, bits));
    }
    // The conversion of NaN to a number is not defined.
    Value good =
        arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::ORD, x, x);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, good, sum, x);
    return success();
  }
};

/// x / y = x s rcp(y s), good to 2 ulp. rcp.approx.ftz reads denormal numbers
/// as zero and gives none: s moves y away from both ends of the range.
enum class Sign { Unknown, NotNegative, Positive };

/// What is known of a number: `Positive` is at least the smallest normal one.
Sign signOf(Value value, int depth = 0) {
  if (depth > 16)
    return Sign::Unknown;
  FloatAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant.getValueAsDouble() >= 0x1p-126 ? Sign::Positive
           : constant.getValue().isNegative()      ? Sign::Unknown
                                                   : Sign::NotNegative;
  Operation *op = value.getDefiningOp();
  auto of = [&](unsigned i) { return signOf(op->getOperand(i), depth + 1); };
  auto known = [&](unsigned i) { return of(i) != Sign::Unknown; };
  if (isa_and_nonnull<math::AbsFOp>(op))
    return Sign::NotNegative;
  if (isa_and_nonnull<arith::AddFOp>(op) && known(0) && known(1))
    return of(0) == Sign::Positive ? Sign::Positive : of(1);
  if (isa_and_nonnull<arith::MulFOp>(op) && known(0) && known(1))
    return Sign::NotNegative;
  if (isa_and_nonnull<math::FmaOp>(op) && known(0) && known(1) && known(2))
    return of(2);
  return Sign::Unknown;
}

struct DivideByRcp : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::DivFOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    Location loc = op.getLoc();
    if (isApproximate(op)) {
      Value inverse = callIntrinsic(rewriter, loc, "llvm.nvvm.rcp.approx.ftz.f",
                                    op.getRhs());
      rewriter.replaceOpWithNewOp<arith::MulFOp>(op, op.getLhs(), inverse);
      return success();
    }
    // The denominator of a rational function, 1 + |...|: never small, and where
    // it exceeds 2^126 the function is taken to be 0.
    if (isa_and_nonnull<arith::AddFOp, math::FmaOp>(
            op.getRhs().getDefiningOp()) &&
        signOf(op.getRhs()) == Sign::Positive) {
      Value inverse = callIntrinsic(rewriter, loc, "llvm.nvvm.rcp.approx.ftz.f",
                                    op.getRhs());
      rewriter.replaceOpWithNewOp<arith::MulFOp>(op, op.getLhs(), inverse);
      return success();
    }
    Value size = math::AbsFOp::create(rewriter, loc, op.getRhs());
    Value isSmall =
        arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::OLT, size,
                              number(rewriter, loc, 0x1p-126f));
    Value isLarge =
        arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::OGE, size,
                              number(rewriter, loc, 0x1p126f));
    Value scale = arith::SelectOp::create(rewriter, loc, isLarge,
                                          number(rewriter, loc, 0x1p-2f),
                                          number(rewriter, loc, 1));
    scale = arith::SelectOp::create(rewriter, loc, isSmall,
                                    number(rewriter, loc, 0x1p24f), scale);
    Value inverse = callIntrinsic(
        rewriter, loc, "llvm.nvvm.rcp.approx.ftz.f",
        arith::MulFOp::create(rewriter, loc, op.getRhs(), scale).getResult());
    Value scaled = arith::MulFOp::create(rewriter, loc, op.getLhs(), scale);
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, scaled, inverse);
    return success();
  }
};

/// An instruction that is good to 2 ulp, by the PTX manual.
template <typename OpTy> struct ByApproximation : OpRewritePattern<OpTy> {
  ByApproximation(MLIRContext *context, StringRef intrinsic,
                  PatternBenefit benefit)
      : OpRewritePattern<OpTy>(context, benefit), intrinsic(intrinsic) {}
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    rewriter.replaceOp(
        op, callIntrinsic(rewriter, op.getLoc(), intrinsic, op.getOperand()));
    return success();
  }

  StringRef intrinsic;
};

/// The arithmetic and the functions of narrow floats, in f32.
struct ComputeInF32 : RewritePattern {
  explicit ComputeInF32(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/2, context) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    auto narrow = [](Type type) { return type.isBF16() || type.isF16(); };
    if (!isa<math::MathDialect, arith::ArithDialect>(op->getDialect()) ||
        isa<arith::ConstantOp, arith::ExtFOp, arith::TruncFOp, arith::SelectOp,
            arith::BitcastOp, math::IsNormalOp>(op) ||
        llvm::none_of(op->getOperandTypes(), narrow))
      return failure();
    Type f32 = rewriter.getF32Type();
    OperationState state(op->getLoc(), op->getName());
    for (Value operand : op->getOperands())
      state.addOperands(
          narrow(operand.getType())
              ? arith::ExtFOp::create(rewriter, op->getLoc(), f32, operand)
                    .getResult()
              : operand);
    for (Type type : op->getResultTypes())
      state.addTypes(narrow(type) ? f32 : type);
    state.propertiesAttr = op->getPropertiesAsAttribute();
    Operation *wide = rewriter.create(state);
    SmallVector<Value> results;
    for (auto [was, is] : llvm::zip(op->getResults(), wide->getResults()))
      results.push_back(narrow(was.getType())
                            ? arith::TruncFOp::create(rewriter, op->getLoc(),
                                                      was.getType(), is)
                                  .getResult()
                            : is);
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// Whether an op may compute what is equal in exact arithmetic.
bool mayRegroup(arith::ArithFastMathInterface op) {
  return bitEnumContainsAny(op.getFastMathFlagsAttr().getValue(),
                            arith::FastMathFlags::reassoc);
}

/// Exponentials of alike arguments from which on these share a product.
constexpr size_t fewestAlike = 3;

/// e^(a - b) = 2^(a log2 e - b log2 e): where many have the same b, one fused
/// multiply-add takes the place of a difference and a product; where their a
/// are sums with the same c, as in scans, (c - b) log2 e is shared in place of
/// it. That product is rounded: a result is off by |b| or |c - b| times 2^-24
/// of itself, which is anything where these are large. So all of it has to
/// allow that: `afn` and `reassoc` on exponentials, `reassoc` on differences
/// and sums.
void regroupExponents(Operation *module) {
  auto differenceOf = [](math::ExpOp op) {
    return op.getOperand().getDefiningOp<arith::SubFOp>();
  };
  auto sumOf = [&](math::ExpOp op) {
    auto sum = differenceOf(op).getLhs().getDefiningOp<arith::AddFOp>();
    return sum && mayRegroup(sum) ? sum : arith::AddFOp();
  };
  // By block and b, in order. The values only tell groups apart: what an
  // earlier group has replaced may be among them.
  llvm::MapVector<std::pair<Block *, Value>, SmallVector<math::ExpOp>> groups;
  module->walk([&](math::ExpOp op) {
    arith::SubFOp difference = differenceOf(op);
    if (op.getType().isF32() && isApproximate(op) && mayRegroup(op) &&
        difference && mayRegroup(difference) && difference->hasOneUse() &&
        difference->getBlock() == op->getBlock())
      groups[{op->getBlock(), difference.getRhs()}].push_back(op);
  });
  for (auto &[key, ops] : groups) {
    llvm::MapVector<Value, SmallVector<math::ExpOp>> bySummand;
    for (math::ExpOp op : ops)
      bySummand[sumOf(op) ? sumOf(op).getRhs() : Value()].push_back(op);
    for (auto &[summand, alike] : bySummand) {
      bool ofSums = summand != nullptr;
      // Sums that others need as well are made anyway: both would live.
      auto needed =
          static_cast<size_t>(llvm::count_if(alike, [&](math::ExpOp op) {
            return ofSums && !sumOf(op)->hasOneUse();
          }));
      bool shares =
          ofSums && alike.size() >= fewestAlike && 4 * needed <= alike.size();
      if (!shares && ops.size() < fewestAlike)
        continue;
      arith::SubFOp first = differenceOf(alike.front());
      for (math::ExpOp op : alike)
        if (differenceOf(op)->isBeforeInBlock(first))
          first = differenceOf(op);
      OpBuilder builder(first);
      Location loc = first.getLoc();
      Value scale = number(builder, loc, 0x1.715476p+0f);
      Value b = first.getRhs(), shared;
      if (shares)
        shared = arith::SubFOp::create(builder, loc,
                                       sumOf(alike.front()).getRhs(), b);
      else
        shared = arith::NegFOp::create(builder, loc, b);
      shared = arith::MulFOp::create(builder, loc, shared, scale);
      for (math::ExpOp op : alike) {
        arith::SubFOp difference = differenceOf(op);
        Value own = shares ? sumOf(op).getLhs() : difference.getLhs();
        builder.setInsertionPoint(op);
        Value power =
            math::FmaOp::create(builder, op.getLoc(), own, scale, shared);
        op.replaceAllUsesWith(callIntrinsic(
            builder, op.getLoc(), "llvm.nvvm.ex2.approx.ftz.f32", power));
        op.erase();
        difference.erase();
      }
    }
  }
  // Sums of scans say it for this alone: otherwise their order is fixed.
  module->walk([](arith::AddFOp sum) {
    sum.setFastmath(sum.getFastmath() & ~arith::FastMathFlags::reassoc);
  });
}

/// Returns whether a function is an instruction, or a few of them.
bool hasCode(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::CtPopOp, math::FloorOp, math::FmaOp, math::RoundEvenOp,
             math::RoundOp, math::RsqrtOp, math::SqrtOp, math::TruncOp>(op);
}

struct NvptxLowerMath : impl::NvptxLowerMathBase<NvptxLowerMath> {
  void runOnOperation() override {
    regroupExponents(getOperation());
    if (failed(expand()) || failed(check()))
      signalPassFailure();
  }

  LogicalResult expand() {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<ComputeInF32>(context);
    patterns.add<DivideByRcp, ExpByEx2, ExpOfF64>(context, /*benefit=*/2);
    patterns.add<ByApproximation<math::Exp2Op>>(
        context, "llvm.nvvm.ex2.approx.ftz.f32", /*benefit=*/2);
    patterns.add<ByApproximation<math::RsqrtOp>>(
        context, "llvm.nvvm.rsqrt.approx.ftz.f", /*benefit=*/2);
    populateMathExpansions(patterns, /*all=*/true);
    GreedyRewriteConfig config;
    config.enableFolding(false);
    return applyPatternsGreedily(getOperation(), std::move(patterns), config);
  }

  /// Refuses what is left and has no code on a GPU: functions of f64, and some
  /// of f32 (docs/gpu.md lists them).
  LogicalResult check() {
    WalkResult result = getOperation().walk([](Operation *op) {
      if (!isa<math::MathDialect>(op->getDialect()) || hasCode(op))
        return WalkResult::advance();
      op->emitOpError()
          << "of " << op->getOperand(0).getType()
          << " has no code on a GPU: write it by functions that have, in f32, "
             "or compute the function on the CPU";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }
};

} // namespace
} // namespace drawloom::nvptx
