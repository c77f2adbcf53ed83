//===- ConversionOps.cpp - from one element type to another ---------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Machine.h"
#include "lib/Interpreter/ScalarOps.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;

namespace drawloom::interpreter {

static uint64_t unsignedOf(int64_t value, unsigned bits) {
  return uint64_t(value) & llvm::maskTrailingOnes<uint64_t>(bits);
}

static ScalarOp custom(ScalarOp::Function function) {
  ScalarOp op;
  op.unary = nullptr;
  op.function = function;
  return op;
}

/// Keeps the bits of narrower types as they are: sign-extending.
static const char *signExtend(const ScalarOp &op, Scalar *r) {
  int64_t value = r[op.in[0]].i;
  r[op.out[0]].i = wrapInteger(op.bitsIn == 1 ? -value : value, op.bitsOut);
  return nullptr;
}

static const char *zeroExtend(const ScalarOp &op, Scalar *r) {
  r[op.out[0]].i =
      wrapInteger(int64_t(unsignedOf(r[op.in[0]].i, op.bitsIn)), op.bitsOut);
  return nullptr;
}

/// Float to integer, truncating. What does not fit has no defined value; the
/// type's smallest integer is what x86 gives, and is easy to recognise.
/// Truncated, and the nearest there is of what the type does not hold; of NaN
/// 0.
static const char *toSigned(const ScalarOp &op, Scalar *r) {
  double value = std::trunc(r[op.in[0]].f);
  // 2^63 is exact as a double, so the comparisons decide rightly.
  double limit = std::ldexp(1.0, int(op.bitsOut) - 1);
  int64_t result = value >= limit    ? llvm::maxIntN(op.bitsOut)
                   : value >= -limit ? int64_t(value)
                   : value < -limit  ? llvm::minIntN(op.bitsOut)
                                     : 0;
  r[op.out[0]].i = wrapInteger(result, op.bitsOut);
  return nullptr;
}

static const char *toUnsigned(const ScalarOp &op, Scalar *r) {
  double value = std::trunc(r[op.in[0]].f);
  uint64_t result = value >= std::ldexp(1.0, int(op.bitsOut))
                        ? llvm::maxUIntN(op.bitsOut)
                    : value > 0 ? uint64_t(value)
                                : 0;
  r[op.out[0]].i = wrapInteger(int64_t(result), op.bitsOut);
  return nullptr;
}

static const llvm::fltSemantics &semanticsOf(Type type) {
  return cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics();
}

/// Reinterprets the bits that the value has in its own type.
static const char *bitcastScalar(const ScalarOp &op, Scalar *r) {
  Type from = op.op->getOperand(0).getType();
  Type to = op.op->getResult(0).getType();
  uint64_t bits;
  if (isFloat(from)) {
    llvm::APFloat value(r[op.in[0]].f);
    bool inexact;
    value.convert(semanticsOf(from), llvm::APFloat::rmNearestTiesToEven,
                  &inexact);
    bits = value.bitcastToAPInt().getZExtValue();
  } else {
    bits = unsignedOf(r[op.in[0]].i, op.bitsIn);
  }
  if (isFloat(to)) {
    llvm::APFloat value(semanticsOf(to), llvm::APInt(op.bitsOut, bits));
    bool inexact;
    value.convert(llvm::APFloat::IEEEdouble(),
                  llvm::APFloat::rmNearestTiesToEven, &inexact);
    r[op.out[0]].f = value.convertToDouble();
  } else {
    r[op.out[0]].i = wrapInteger(int64_t(bits), op.bitsOut);
  }
  return nullptr;
}

void addConversionScalarOps(ScalarTable &table) {
  for (const char *name :
       {"arith.extsi", "arith.trunci", "arith.index_cast", "index.casts"})
    table[name] = custom(signExtend);
  for (const char *name : {"arith.extui", "arith.index_castui", "index.castu"})
    table[name] = custom(zeroExtend);
  table["arith.sitofp"] =
      custom([](const ScalarOp &op, Scalar *r) -> const char * {
        int64_t value = r[op.in[0]].i;
        r[op.out[0]].f = double(op.bitsIn == 1 ? -value : value);
        return nullptr;
      });
  table["arith.uitofp"] =
      custom([](const ScalarOp &op, Scalar *r) -> const char * {
        r[op.out[0]].f = double(unsignedOf(r[op.in[0]].i, op.bitsIn));
        return nullptr;
      });
  table["arith.fptosi"] = custom(toSigned);
  table["arith.fptoui"] = custom(toUnsigned);
  table["arith.bitcast"] = custom(bitcastScalar);
  table["tensor.bitcast"] = custom(bitcastScalar);
}

} // namespace drawloom::interpreter
