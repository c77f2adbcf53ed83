//===- Elementwise.cpp - arith and math in a Triton kernel ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/triton/KernelExport.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace drawloom;
using namespace drawloom::triton;

/// Ops that Triton takes by the same name. Division and square roots are those
/// of Triton's `/` and `tl.sqrt`: within two units in the last place.
static bool isTakenAsItIs(StringRef name) {
  static const llvm::StringSet<> names = {
      "arith.addf",    "arith.subf",     "arith.mulf",       "arith.divf",
      "arith.remf",    "arith.maximumf", "arith.minimumf",   "arith.maxnumf",
      "arith.minnumf", "arith.addi",     "arith.subi",       "arith.muli",
      "arith.divsi",   "arith.divui",    "arith.remsi",      "arith.remui",
      "arith.andi",    "arith.ori",      "arith.xori",       "arith.shli",
      "arith.shrsi",   "arith.shrui",    "arith.maxsi",      "arith.minsi",
      "arith.maxui",   "arith.minui",    "arith.floordivsi", "arith.ceildivsi",
      "math.absf",     "math.exp",       "math.exp2",        "math.log",
      "math.log2",     "math.sqrt",      "math.rsqrt",       "math.sin",
      "math.cos",      "math.erf",       "math.floor",       "math.ceil",
      "math.fma"};
  return names.contains(name);
}

/// The libdevice function of an op that Triton has no op for; "" where there is
/// none. That of f32 has an `f` behind it.
static StringRef libdeviceName(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Case("math.tanh", "__nv_tanh")
      .Case("math.log1p", "__nv_log1p")
      .Case("math.expm1", "__nv_expm1")
      .Case("math.log10", "__nv_log10")
      .Case("math.tan", "__nv_tan")
      .Case("math.atan", "__nv_atan")
      .Case("math.atan2", "__nv_atan2")
      .Case("math.powf", "__nv_pow")
      .Case("math.cbrt", "__nv_cbrt")
      .Case("math.erfc", "__nv_erfc")
      .Case("math.sinh", "__nv_sinh")
      .Case("math.cosh", "__nv_cosh")
      .Case("math.round", "__nv_round")
      .Case("math.roundeven", "__nv_rint")
      .Case("math.trunc", "__nv_trunc")
      .Default("");
}

/// |a| with the sign bit of b.
static Ssa copySign(TtirPrinter &print, const Ssa &a, const Ssa &b) {
  unsigned width = a.element.getIntOrFloatBitWidth();
  Type integer = IntegerType::get(a.element.getContext(), width);
  auto mask = [&](const APInt &bits) {
    return print.constant(IntegerAttr::get(integer, bits), a.shape);
  };
  Ssa size = print.same("arith.andi", {print.bitcast(a, integer),
                                       mask(APInt::getSignedMaxValue(width))});
  Ssa sign = print.same("arith.andi", {print.bitcast(b, integer),
                                       mask(APInt::getSignMask(width))});
  return print.bitcast(print.same("arith.ori", {size, sign}), a.element);
}

FailureOr<Ssa> triton::emitElementwise(TtirPrinter &print, Operation *op,
                                       ArrayRef<Ssa> operands) {
  StringRef name = op->getName().getStringRef();
  Type to = elementInText(getElementTypeOrSelf(op->getResult(0).getType()));

  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto dense = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return print.constant(dense.getSplatValue<TypedAttr>(),
                            paddedShape(dense.getType().getShape()));
    return print.constant(cast<TypedAttr>(constant.getValue()));
  }
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return print.compare(name, stringifyCmpFPredicate(compare.getPredicate()),
                         operands[0], operands[1]);
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return print.compare(name, stringifyCmpIPredicate(compare.getPredicate()),
                         operands[0], operands[1]);
  if (isa<arith::SelectOp>(op))
    return print.select(operands[0], operands[1], operands[2]);
  if (isa<arith::NegFOp>(op))
    return print.same("arith.subf",
                      {print.constant(FloatAttr::get(cast<FloatType>(to), -0.0),
                                      operands[0].shape),
                       operands[0]});
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return convertFloat(print, operands[0], to);
  if (isa<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(op))
    return convertInteger(print, operands[0], to);
  if (isa<arith::ExtUIOp, arith::IndexCastUIOp>(op))
    return convertInteger(print, operands[0], to, /*isSigned=*/false);
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
    bool half = to.getIntOrFloatBitWidth() == 16;
    Ssa out = print.cast(name, operands[0], half ? print.f32() : to);
    return convertFloat(print, out, to);
  }
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op)) {
    bool half = operands[0].element.getIntOrFloatBitWidth() == 16;
    return print.cast(
        name,
        half ? convertFloat(print, operands[0], print.f32()) : operands[0], to);
  }
  if (isa<arith::BitcastOp>(op))
    return print.bitcast(operands[0], to);
  // Triton has none of unsigned numbers.
  if (isa<arith::CeilDivUIOp>(op)) {
    Ssa more = print.same(
        "arith.subi", {operands[1], print.constant(to, 1, operands[1].shape)});
    return print.same(
        "arith.divui",
        {print.same("arith.addi", {operands[0], more}), operands[1]});
  }
  if (isa<math::CopySignOp>(op))
    return copySign(print, operands[0], operands[1]);
  if (isa<math::IsNaNOp>(op))
    return print.compare("arith.cmpf", "uno", operands[0], operands[0]);
  if (isa<math::AbsIOp>(op))
    return print.same(
        "arith.maxsi",
        {operands[0],
         print.same("arith.subi",
                    {print.constant(operands[0].element, 0, operands[0].shape),
                     operands[0]})});

  StringRef device = libdeviceName(name);
  if (!isTakenAsItIs(name) && device.empty())
    return refuse(op, "it has no counterpart");
  // Triton has these for f32 and f64 only.
  SmallVector<Ssa> wide(operands);
  bool half = isa<FloatType>(to) && to.getIntOrFloatBitWidth() == 16 &&
              (isa<math::MathDialect>(op->getDialect()) ||
               isa<arith::DivFOp, arith::RemFOp>(op));
  if (half)
    for (Ssa &operand : wide)
      operand = convertFloat(print, operand, print.f32());
  Ssa out;
  if (device.empty())
    out = print.same(name, wide);
  else
    out = print.libdevice(
        wide[0].element.isF64() ? device.str() : device.str() + "f", wide);
  return half ? convertFloat(print, out, to) : out;
}
