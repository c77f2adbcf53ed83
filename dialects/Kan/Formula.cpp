//===- Formula.cpp - formulas that are evaluated or written ---------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Kan/Formula.h"
#include "dialects/Kan/Kan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace drawloom::kan {

Written operator*(Written x, Written y) {
  return {x.b, arith::MulFOp::create(x.b->builder, x.b->loc, x.value, y.value)};
}

Written floorOf(Written x) {
  return {x.b, math::FloorOp::create(x.b->builder, x.b->loc, x.value)};
}

Written chooseEqual(Written x, double y, Written same, Written other) {
  Value number = constant(y, x).value;
  Value isSame = arith::CmpFOp::create(
      x.b->builder, x.b->loc, arith::CmpFPredicate::OEQ, x.value, number);
  return {x.b, x.b->select(isSame, same.value, other.value)};
}

constexpr double pi = 3.14159265358979323846;

Written sine(Written x) {
  Written turns = x * (1 / pi);
  return {x.b, SinpiOp::create(x.b->builder, x.b->loc, turns.value)};
}

Written cosine(Written x) {
  Written turns = x * (1 / pi);
  return {x.b, CospiOp::create(x.b->builder, x.b->loc, turns.value)};
}

} // namespace drawloom::kan
