//===- ExpandMath.cpp - elementary functions as vector arithmetic ---------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/MathFunctions.h"
#include "codegen/cpu/InstructionSet.h"
#include "codegen/cpu/Passes.h"
#include "codegen/cpu/kernels/ShareRepeats.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace drawloom::cpu {
#define GEN_PASS_DEF_CPUEXPANDMATH
#include "codegen/cpu/Passes.h.inc"
} // namespace drawloom::cpu

using namespace mlir;

namespace drawloom::cpu {
namespace {

/// Functions in which elementary functions and conversions by bits would become
/// more machine operations than this call them: assigning registers to ten
/// thousands of operations in a row takes more than linear time.
constexpr int64_t mostExpandedInPlace = 11520;

/// What `op` becomes for each machine vector: 0 unless it is an elementary
/// function of vectors or a conversion of `byBits`, f16 or bf16, that takes
/// more than a shift. Those of f16 all want their constants at hand, too.
int64_t operationsExpandedTo(Operation *op, ArrayRef<Type> byBits) {
  if (isElementaryFunctionOfVector(op))
    return 30;
  if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
    return 0;
  Type from = getElementTypeOrSelf(op->getOperand(0).getType()),
       to = getElementTypeOrSelf(op->getResult(0).getType());
  Type narrow = isa<arith::ExtFOp>(op) ? from : to,
       wide = isa<arith::ExtFOp>(op) ? to : from;
  if (!wide.isF32() || !llvm::is_contained(byBits, narrow))
    return 0;
  if (narrow.isF16())
    return 45;
  return isa<arith::TruncFOp>(op) ? 15 : 0;
}

/// Puts what `function` expands of vectors over and over into functions of
/// their own.
void callFunctions(func::FuncOp function, SymbolTable &symbols,
                   ArrayRef<Type> byBits) {
  SmallVector<Operation *> ops;
  int64_t expanded = 0;
  function.walk([&](Operation *op) {
    int64_t operations = operationsExpandedTo(op, byBits);
    if (operations == 0)
      return;
    ops.push_back(op);
    expanded += operations * vectorsOf(op->getResult(0).getType());
  });
  if (expanded <= mostExpandedInPlace)
    return;
  OpBuilder builder(function);
  // By name, attributes and type of what is called.
  DenseMap<std::tuple<OperationName, DictionaryAttr, Type>, func::FuncOp> known;
  for (Operation *op : ops) {
    auto type =
        builder.getFunctionType(op->getOperandTypes(), op->getResultTypes());
    func::FuncOp &callee =
        known[{op->getName(), op->getAttrDictionary(), type}];
    if (!callee) {
      callee = createSharedFunction(
          function, symbols, op->getLoc(),
          function.getName() + "_" + op->getName().stripDialect(), type);
      Block *body = &callee.getBody().front();
      builder.setInsertionPointToStart(body);
      IRMapping mapping;
      mapping.map(op->getOperands(), body->getArguments());
      func::ReturnOp::create(builder, op->getLoc(),
                             builder.clone(*op, mapping)->getResults());
    }
    builder.setInsertionPoint(op);
    op->replaceAllUsesWith(
        func::CallOp::create(builder, op->getLoc(), callee, op->getOperands()));
    op->erase();
  }
}

/// The ops on `narrow` types compute in f32, between conversions. LLVM would do
/// the same, but round to bf16 by a function that no C library has.
LogicalResult computeWide(Operation *root, ArrayRef<Type> narrow) {
  auto isNarrow = [&](Type type) {
    return llvm::is_contained(narrow, getElementTypeOrSelf(type));
  };
  WalkResult found = root->walk([&](Operation *op) {
    return llvm::any_of(op->getOperandTypes(), isNarrow) ||
                   llvm::any_of(op->getResultTypes(), isNarrow)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (!found.wasInterrupted())
    return success();
  MLIRContext *context = root->getContext();
  Type f32 = Float32Type::get(context);
  TypeConverter converter;
  arith::populateEmulateUnsupportedFloatsConversions(converter, narrow, f32);
  // The converter refers to it.
  SetVector<Type> supported;
  for (Type type :
       {f32, Type(Float64Type::get(context)), Type(BFloat16Type::get(context))})
    if (!isNarrow(type))
      supported.insert(type);
  TypeConverter mathConverter;
  math::populateExtendToSupportedTypesTypeConverter(mathConverter, supported,
                                                    f32);
  ConversionTarget target(*context);
  arith::populateEmulateUnsupportedFloatsLegality(target, converter);
  math::populateExtendToSupportedTypesConversionTarget(target, mathConverter);
  // Signs and classes are bits, in any type.
  target.addLegalOp<arith::NegFOp, math::AbsFOp, math::CopySignOp,
                    math::IsFiniteOp, math::IsInfOp, math::IsNaNOp,
                    math::IsNormalOp>();
  RewritePatternSet patterns(context);
  arith::populateEmulateUnsupportedFloatsPatterns(patterns, converter);
  math::populateExtendToSupportedTypesPatterns(patterns, mathConverter);
  if (failed(applyPartialConversion(root, target, std::move(patterns))))
    return failure();
  // Upstream lets conversions there and back be dropped: what stays in a
  // register would not be rounded, and what goes through memory would.
  root->walk([](Operation *op) {
    if (auto narrowed = dyn_cast<arith::TruncFOp>(op))
      narrowed.removeFastmathAttr();
    else if (auto widened = dyn_cast<arith::ExtFOp>(op))
      widened.removeFastmathAttr();
  });
  return success();
}

/// Builds arithmetic on the bits of an op's numbers, one or a vector of them.
struct BitBuilder : ImplicitLocOpBuilder {
  BitBuilder(Operation *op, PatternRewriter &rewriter)
      : ImplicitLocOpBuilder(op->getLoc(), rewriter),
        vector(dyn_cast<VectorType>(op->getResult(0).getType())) {}

  /// `element`, or a vector of it.
  Type as(Type element) {
    return vector ? Type(vector.clone(element)) : element;
  }
  Type bits() { return as(getI32Type()); }
  Value constant(uint32_t value) {
    TypedAttr attr = getI32IntegerAttr(static_cast<int32_t>(value));
    if (vector)
      attr = DenseElementsAttr::get(cast<VectorType>(bits()), attr);
    return arith::ConstantOp::create(*this, attr);
  }
  Value bitsOf(Value number) {
    return arith::BitcastOp::create(*this, bits(), number);
  }
  Value numberOf(Value bits) {
    return arith::BitcastOp::create(*this, as(getF32Type()), bits);
  }
  template <typename OpTy> Value make(Value left, Value right) {
    return OpTy::create(*this, left, right);
  }
  template <typename OpTy> Value make(Value left, uint32_t right) {
    return make<OpTy>(left, constant(right));
  }
  /// Of bits without sign: `then` where they are less than `bound`.
  Value whereLess(Value bits, uint32_t bound, Value then, Value otherwise) {
    Value less = arith::CmpIOp::create(*this, arith::CmpIPredicate::slt, bits,
                                       constant(bound));
    return arith::SelectOp::create(*this, less, then, otherwise);
  }

  VectorType vector;
};

/// From f64 to a narrow type, with one rounding: to an f32 whose last bit says
/// whether anything was lost (round to odd), and from there.
struct RoundOnce : OpRewritePattern<arith::TruncFOp> {
  RoundOnce(MLIRContext *context, ArrayRef<Type> narrow)
      : OpRewritePattern(context, /*benefit=*/2), narrow(narrow) {}

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getIn();
    if (!getElementTypeOrSelf(x.getType()).isF64() ||
        !llvm::is_contained(narrow, getElementTypeOrSelf(op.getType())))
      return failure();
    BitBuilder b(op, rewriter);
    Value nearest = arith::TruncFOp::create(b, b.as(b.getF32Type()), x);
    Value back = arith::ExtFOp::create(b, x.getType(), nearest);
    Value lost = arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back, x);
    Value beyond = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT,
                                         math::AbsFOp::create(b, back),
                                         math::AbsFOp::create(b, x));
    // Towards zero, then odd.
    Value bits = b.make<arith::SubIOp>(
        b.bitsOf(nearest), arith::ExtUIOp::create(b, b.bits(), beyond));
    bits =
        arith::SelectOp::create(b, lost, b.make<arith::OrIOp>(bits, 1), bits);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(),
                                                 b.numberOf(bits));
    return success();
  }

  SmallVector<Type> narrow;
};

/// From a narrow type to f64 by way of f32, which has all of its numbers:
/// patterns expand only the first step.
struct WidenTwice : OpRewritePattern<arith::ExtFOp> {
  WidenTwice(MLIRContext *context, ArrayRef<Type> narrow)
      : OpRewritePattern(context, /*benefit=*/2), narrow(narrow) {}

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    if (!llvm::is_contained(narrow,
                            getElementTypeOrSelf(op.getIn().getType())) ||
        !getElementTypeOrSelf(op.getType()).isF64())
      return failure();
    Type wide = rewriter.getF32Type();
    if (auto vector = dyn_cast<VectorType>(op.getType()))
      wide = vector.clone(wide);
    Value half = arith::ExtFOp::create(rewriter, op.getLoc(), wide, op.getIn());
    rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, op.getType(), half);
    return success();
  }

  SmallVector<Type> narrow;
};

// f16 where the instruction set does not convert it: LLVM calls a function for
// each number, of which it compiles some thousands in a minute. An f16 has 5
// bits of exponent with bias 15 and 10 of mantissa, an f32 8 with 127 and 23.
constexpr uint32_t halfInfinity = 0x7c00, halfNormal = 0x0400,
                   floatInfinity = 0x7f800000,
                   rebias = (127 - 15) << 23, // From one exponent to the other.
    leastNormal = (127 - 14) << 23,           // 2^-14 as an f32.
    oneHalf = 126 << 23;                      // 0.5: its last bit is 2^-24.

/// From f16 to f32.
struct WidenHalf : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn().getType()).isF16() ||
        !getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    BitBuilder b(op, rewriter);
    Value half = arith::ExtUIOp::create(
        b, b.bits(),
        arith::BitcastOp::create(b, b.as(b.getI16Type()), op.getIn()));
    Value magnitude = b.make<arith::AndIOp>(half, 0x7fff);
    Value moved = b.make<arith::ShLIOp>(magnitude, 13);
    // 2^-14 and the mantissa, less 2^-14: no subnormal number takes part.
    Value subnormal = b.bitsOf(b.make<arith::SubFOp>(
        b.numberOf(b.make<arith::AddIOp>(moved, leastNormal)),
        b.numberOf(b.constant(leastNormal))));
    Value wide =
        b.whereLess(magnitude, halfNormal, subnormal,
                    b.whereLess(magnitude, halfInfinity,
                                b.make<arith::AddIOp>(moved, rebias),
                                b.make<arith::OrIOp>(moved, floatInfinity)));
    Value sign = b.make<arith::ShLIOp>(b.make<arith::AndIOp>(half, 0x8000), 16);
    rewriter.replaceOp(op, b.numberOf(b.make<arith::OrIOp>(wide, sign)));
    return success();
  }
};

/// From f32 to the nearest f16, of two the even one.
struct NarrowHalf : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn().getType()).isF32() ||
        !getElementTypeOrSelf(op.getType()).isF16())
      return failure();
    BitBuilder b(op, rewriter);
    Value bits = b.bitsOf(op.getIn());
    Value magnitude = b.make<arith::AndIOp>(bits, 0x7fffffff);
    Value moved = b.make<arith::ShRUIOp>(magnitude, 13);
    // Half of the last place, and one more where that place is odd.
    Value rounding =
        b.make<arith::AddIOp>(b.make<arith::AndIOp>(moved, 1), 0x0fff - rebias);
    Value normal =
        b.make<arith::ShRUIOp>(b.make<arith::AddIOp>(magnitude, rounding), 13);
    // The sum with 0.5 is rounded at 2^-24, where subnormal numbers end.
    Value subnormal = b.make<arith::SubIOp>(
        b.bitsOf(b.make<arith::AddFOp>(b.numberOf(magnitude),
                                       b.numberOf(b.constant(oneHalf)))),
        oneHalf);
    // A NaN stays one, and quiet.
    Value none = b.make<arith::OrIOp>(b.make<arith::AndIOp>(moved, 0x03ff),
                                      halfInfinity | 0x0200);
    // From 65520 on the nearest is infinite.
    constexpr uint32_t tooLarge = 0x477ff000;
    Value narrow =
        b.whereLess(magnitude, leastNormal, subnormal,
                    b.whereLess(magnitude, tooLarge, normal,
                                b.whereLess(magnitude, floatInfinity + 1,
                                            b.constant(halfInfinity), none)));
    Value sign =
        b.make<arith::AndIOp>(b.make<arith::ShRUIOp>(bits, 16), 0x8000);
    Value half = arith::TruncIOp::create(b, b.as(b.getI16Type()),
                                         b.make<arith::OrIOp>(narrow, sign));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), half);
    return success();
  }
};

/// In f32, which upstream's patterns for unsupported types leave alone: LLVM
/// would do the same, but round to bf16 by a function that no C library has.
struct WidenMultiplyAdd : OpRewritePattern<math::FmaOp> {
  WidenMultiplyAdd(MLIRContext *context, ArrayRef<Type> narrow)
      : OpRewritePattern(context), narrow(narrow) {}

  LogicalResult matchAndRewrite(math::FmaOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!llvm::is_contained(narrow, getElementTypeOrSelf(type)))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type wide = b.getF32Type();
    if (auto vector = dyn_cast<VectorType>(type))
      wide = vector.clone(wide);
    auto extend = [&](Value value) -> Value {
      return arith::ExtFOp::create(b, wide, value);
    };
    Value sum = math::FmaOp::create(b, extend(op.getA()), extend(op.getB()),
                                    extend(op.getC()));
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, sum);
    return success();
  }

  SmallVector<Type> narrow;
};

/// Signs of bf16 by its bits.
struct SignByBits : RewritePattern {
  SignByBits(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa<arith::NegFOp, math::AbsFOp, math::CopySignOp>(op) ||
        !getElementTypeOrSelf(op->getResult(0).getType()).isBF16())
      return failure();
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    Type type = op->getResult(0).getType(), integer = b.getI16Type();
    auto vector = dyn_cast<VectorType>(type);
    if (vector)
      integer = vector.clone(integer);
    auto bits = [&](Value value) -> Value {
      return arith::BitcastOp::create(b, integer, value);
    };
    auto mask = [&](int64_t value) -> Value {
      TypedAttr attr = b.getIntegerAttr(b.getI16Type(), value);
      if (vector)
        attr = DenseElementsAttr::get(cast<VectorType>(integer), attr);
      return arith::ConstantOp::create(b, attr);
    };
    constexpr int64_t sign = -0x8000, magnitude = 0x7fff;
    Value result = bits(op->getOperand(0));
    if (isa<arith::NegFOp>(op)) {
      result = arith::XOrIOp::create(b, result, mask(sign));
    } else {
      result = arith::AndIOp::create(b, result, mask(magnitude));
      if (auto copy = dyn_cast<math::CopySignOp>(op))
        result = arith::OrIOp::create(
            b, result,
            arith::AndIOp::create(b, bits(copy.getRhs()), mask(sign)));
    }
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, type, result);
    return success();
  }
};

/// By the C library's power in f64, which holds every exponent of up to 53
/// bits: LLVM's takes one 32-bit number.
struct IntegerPower : OpRewritePattern<math::FPowIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::FPowIOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type wide = b.getF64Type(), type = op.getType();
    if (auto vector = dyn_cast<VectorType>(type))
      wide = vector.clone(wide);
    Value base = op.getLhs();
    if (type != wide)
      base = arith::ExtFOp::create(b, wide, base);
    Value exponent = arith::SIToFPOp::create(b, wide, op.getRhs());
    Value power = math::PowFOp::create(b, base, exponent);
    if (type != wide)
      power = arith::TruncFOp::create(b, type, power);
    rewriter.replaceOp(op, power);
    return success();
  }
};

/// Where upstream has log(1 + x) and exp(x) - 1, small numbers lose their
/// digits. Leaves these of f64 to the C library, which keeps them.
LogicalResult callLibraryNearZero(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateMathToLibmConversionPatterns(patterns);
  ConversionTarget target(*module.getContext());
  target.markUnknownOpDynamicallyLegal([](Operation *op) {
    return !isa<math::ExpM1Op, math::Log1pOp>(op) ||
           !getElementTypeOrSelf(op->getResult(0).getType()).isF64();
  });
  return applyPartialConversion(module, target, std::move(patterns));
}

/// A product that only one sum takes up, in the same block, keeps its extra
/// bits: one multiply-add where the machine has it, and never less accurate.
/// Said here, not allowed to LLVM, which would choose by what else it sees:
/// loops that are unrolled for few rows would round otherwise than those for
/// many.
void fuseMultiplyAdds(Operation *root) {
  SmallVector<Operation *> sums;
  root->walk([&](Operation *op) {
    Type type = op->getNumResults() == 1
                    ? getElementTypeOrSelf(op->getResult(0).getType())
                    : Type();
    if (isa<arith::AddFOp, arith::SubFOp>(op) && (type.isF32() || type.isF64()))
      sums.push_back(op);
  });
  for (Operation *op : sums) {
    auto productOf = [&](unsigned i) {
      auto product = op->getOperand(i).getDefiningOp<arith::MulFOp>();
      return product && product->hasOneUse() &&
                     product->getBlock() == op->getBlock()
                 ? product
                 : arith::MulFOp();
    };
    arith::MulFOp first = productOf(0), second = productOf(1);
    if (!first && !second)
      continue;
    OpBuilder b(op);
    Location loc = op->getLoc();
    arith::MulFOp product = first ? first : second;
    Value x = product.getLhs(), added = op->getOperand(first ? 1 : 0);
    if (isa<arith::SubFOp>(op)) {
      // x y - z = x y + (-z), and z - x y = (-x) y + z.
      Value &negative = first ? added : x;
      negative = arith::NegFOp::create(b, loc, negative);
    }
    op->replaceAllUsesWith(
        math::FmaOp::create(b, loc, x, product.getRhs(), added));
    op->erase();
    product->erase();
  }
}

struct CpuExpandMath : impl::CpuExpandMathBase<CpuExpandMath> {
  using CpuExpandMathBase::CpuExpandMathBase;
  void runOnOperation() override {
    llvm::Expected<const InstructionSet *> set = findInstructionSet(isa);
    if (!set) {
      getOperation()->emitError() << llvm::toString(set.takeError());
      return signalPassFailure();
    }
    auto has = [&](StringRef feature) {
      return llvm::is_contained((*set)->features, feature);
    };
    Type half = Float16Type::get(&getContext()),
         brain = BFloat16Type::get(&getContext());
    // Computed in f32, and converted without instructions for it.
    SmallVector<Type> narrow{half}, byBits;
    if (!has("avx512bf16")) {
      narrow.push_back(brain);
      byBits.push_back(brain);
    }
    if (!has("f16c"))
      byBits.push_back(half);
    if (failed(computeWide(getOperation(), narrow)))
      return signalPassFailure();
    if (auto module = dyn_cast<ModuleOp>(getOperation())) {
      SymbolTable symbols(module);
      for (auto function :
           llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
        callFunctions(function, symbols, byBits);
    }
    RewritePatternSet patterns(&getContext());
    // The C library has what upstream's polynomials are bad at.
    populateMathExpansions(patterns, /*all=*/false);
    patterns.add<IntegerPower>(&getContext());
    if (llvm::is_contained(narrow, brain))
      patterns.add<SignByBits>(&getContext());
    patterns.add<WidenMultiplyAdd>(&getContext(), narrow);
    // Patterns expand bf16 everywhere, in the code around vectors, too.
    SmallVector<Type> expandedTypes{brain};
    if (!has("f16c")) {
      expandedTypes.push_back(half);
      patterns.add<WidenHalf, NarrowHalf>(&getContext());
    }
    patterns.add<RoundOnce, WidenTwice>(&getContext(), expandedTypes);
    arith::populateExpandBFloat16Patterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    if (auto module = dyn_cast<ModuleOp>(getOperation());
        module && failed(callLibraryNearZero(module)))
      return signalPassFailure();
    fuseMultiplyAdds(getOperation());
  }
};

} // namespace
} // namespace drawloom::cpu
