//===- IndexMath.h - arithmetic on extents ----------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_INDEXMATH_H
#define DRAWLOOM_INDEXMATH_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

namespace drawloom {

/// Computes with nonnegative extents: folds the result if both extents are
/// known, and else creates ops. So a rule is written once for both cases.
class IndexMath {
public:
  IndexMath(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  mlir::OpFoldResult number(int64_t value) { return b.getIndexAttr(value); }
  mlir::OpFoldResult add(mlir::OpFoldResult x, mlir::OpFoldResult y) {
    return make<mlir::arith::AddIOp>(
        x, y, [](int64_t p, int64_t q) { return p + q; });
  }
  mlir::OpFoldResult sub(mlir::OpFoldResult x, mlir::OpFoldResult y) {
    return make<mlir::arith::SubIOp>(
        x, y, [](int64_t p, int64_t q) { return p - q; });
  }
  mlir::OpFoldResult mul(mlir::OpFoldResult x, mlir::OpFoldResult y) {
    if (mlir::isConstantIntValue(x, 1))
      return y;
    if (mlir::isConstantIntValue(y, 1))
      return x;
    return make<mlir::arith::MulIOp>(
        x, y, [](int64_t p, int64_t q) { return p * q; });
  }
  mlir::OpFoldResult min(mlir::OpFoldResult x, mlir::OpFoldResult y) {
    return make<mlir::arith::MinSIOp>(
        x, y, [](int64_t p, int64_t q) { return std::min(p, q); });
  }
  mlir::OpFoldResult max(mlir::OpFoldResult x, mlir::OpFoldResult y) {
    return make<mlir::arith::MaxSIOp>(
        x, y, [](int64_t p, int64_t q) { return std::max(p, q); });
  }
  mlir::OpFoldResult floorDiv(mlir::OpFoldResult x, mlir::OpFoldResult y) {
    return make<mlir::arith::DivUIOp>(
        x, y, [](int64_t p, int64_t q) { return p / q; });
  }
  mlir::OpFoldResult ceilDiv(mlir::OpFoldResult x, mlir::OpFoldResult y) {
    return floorDiv(add(x, sub(y, number(1))), y);
  }
  mlir::OpFoldResult rem(mlir::OpFoldResult x, mlir::OpFoldResult y) {
    return make<mlir::arith::RemUIOp>(
        x, y, [](int64_t p, int64_t q) { return p % q; });
  }

private:
  template <typename OpTy, typename Fn>
  mlir::OpFoldResult make(mlir::OpFoldResult x, mlir::OpFoldResult y, Fn fold) {
    std::optional<int64_t> p = mlir::getConstantIntValue(x),
                           q = mlir::getConstantIntValue(y);
    if (p && q)
      return b.getIndexAttr(fold(*p, *q));
    return OpTy::create(b, loc,
                        mlir::getValueOrCreateConstantIndexOp(b, loc, x),
                        mlir::getValueOrCreateConstantIndexOp(b, loc, y))
        ->getResult(0);
  }

  mlir::OpBuilder &b;
  mlir::Location loc;
};

} // namespace drawloom

#endif // DRAWLOOM_INDEXMATH_H
