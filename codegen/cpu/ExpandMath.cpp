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
#include "codegen/cpu/ShareRepeats.h"
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

/// Functions that take elementary functions of more machine vectors than this
/// call them: each becomes some thirty operations, and assigning registers to
/// ten thousands of operations in a row takes more than linear time.
constexpr int64_t mostExpandedInPlace = 384;

/// Puts elementary functions that `function` takes of vectors over and over
/// into functions of their own.
void callFunctions(func::FuncOp function, SymbolTable &symbols) {
  SmallVector<Operation *> ops;
  int64_t vectors = 0;
  function.walk([&](Operation *op) {
    if (!isElementaryFunction(op))
      return;
    ops.push_back(op);
    vectors += vectorsOf(op->getResult(0).getType());
  });
  if (vectors <= mostExpandedInPlace)
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

/// From f64 to bf16, with one rounding: to an f32 whose last bit says whether
/// anything was lost (round to odd), and from there.
struct RoundOnce : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getIn();
    if (!getElementTypeOrSelf(x.getType()).isF64() ||
        !getElementTypeOrSelf(op.getType()).isBF16())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto as = [&](Type element) -> Type {
      if (auto vector = dyn_cast<VectorType>(op.getType()))
        return vector.clone(element);
      return element;
    };
    auto constant = [&](int32_t value) -> Value {
      TypedAttr attr = b.getI32IntegerAttr(value);
      if (auto vector = dyn_cast<VectorType>(as(b.getI32Type())))
        attr = DenseElementsAttr::get(vector, attr);
      return arith::ConstantOp::create(b, attr);
    };
    Value nearest = arith::TruncFOp::create(b, as(b.getF32Type()), x);
    Value back = arith::ExtFOp::create(b, x.getType(), nearest);
    Value lost = arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back, x);
    Value beyond = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT,
                                         math::AbsFOp::create(b, back),
                                         math::AbsFOp::create(b, x));
    Value bits = arith::BitcastOp::create(b, as(b.getI32Type()), nearest);
    // Towards zero, then odd.
    bits = arith::SubIOp::create(
        b, bits, arith::ExtUIOp::create(b, bits.getType(), beyond));
    Value odd = arith::OrIOp::create(b, bits, constant(1));
    bits = arith::SelectOp::create(b, lost, odd, bits);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(
        op, op.getType(), arith::BitcastOp::create(b, nearest.getType(), bits));
    return success();
  }
};

/// From bf16 to f64 by way of f32, which has all of its numbers: upstream
/// expands only the first step.
struct WidenTwice : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn().getType()).isBF16() ||
        !getElementTypeOrSelf(op.getType()).isF64())
      return failure();
    Type wide = rewriter.getF32Type();
    if (auto vector = dyn_cast<VectorType>(op.getType()))
      wide = vector.clone(wide);
    Value half = arith::ExtFOp::create(rewriter, op.getLoc(), wide, op.getIn());
    rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, op.getType(), half);
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
    SmallVector<Type> narrow{Float16Type::get(&getContext())};
    if (!llvm::is_contained((*set)->features, "avx512bf16"))
      narrow.push_back(BFloat16Type::get(&getContext()));
    if (failed(computeWide(getOperation(), narrow)))
      return signalPassFailure();
    if (auto module = dyn_cast<ModuleOp>(getOperation())) {
      SymbolTable symbols(module);
      for (auto function :
           llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
        callFunctions(function, symbols);
    }
    RewritePatternSet patterns(&getContext());
    // The C library has what upstream's polynomials are bad at.
    populateMathExpansions(patterns, /*all=*/false);
    patterns.add<IntegerPower>(&getContext());
    if (llvm::is_contained(narrow, BFloat16Type::get(&getContext())))
      patterns.add<SignByBits>(&getContext());
    patterns.add<WidenMultiplyAdd>(&getContext(), narrow);
    patterns.add<RoundOnce, WidenTwice>(&getContext(), /*benefit=*/2);
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
