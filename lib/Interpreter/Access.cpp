//===- Access.cpp - tensors read through indexing maps --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Access.h"
#include "lib/Interpreter/Machine.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace drawloom::interpreter {

std::optional<int64_t> evaluateAffine(AffineExpr expr, ArrayRef<int64_t> dims,
                                      ArrayRef<int64_t> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<int64_t> a = evaluateAffine(binary.getLHS(), dims, symbols);
  std::optional<int64_t> b = evaluateAffine(binary.getRHS(), dims, symbols);
  if (!a || !b)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return int64_t(uint64_t(*a) + uint64_t(*b));
  case AffineExprKind::Mul:
    return int64_t(uint64_t(*a) * uint64_t(*b));
  default:
    break;
  }
  // Affine division and remainder are defined for positive divisors only.
  if (*b <= 0)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::FloorDiv:
    return llvm::divideFloorSigned(*a, *b);
  case AffineExprKind::CeilDiv:
    return llvm::divideCeilSigned(*a, *b);
  case AffineExprKind::Mod:
    return llvm::mod(*a, *b);
  default:
    llvm_unreachable("not a binary affine expression");
  }
}

/// Adds `factor` times the expression to constant + sum of coefficient * loop
/// index; false if it is not of that form.
static bool addLinear(AffineExpr expr, int64_t factor, int64_t &constant,
                      MutableArrayRef<int64_t> coefficients) {
  if (auto value = dyn_cast<AffineConstantExpr>(expr)) {
    constant += factor * value.getValue();
    return true;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    coefficients[dim.getPosition()] += factor;
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (expr.getKind() == AffineExprKind::Add)
    return addLinear(binary.getLHS(), factor, constant, coefficients) &&
           addLinear(binary.getRHS(), factor, constant, coefficients);
  // Products are kept with the constant on the right.
  auto value = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() != AffineExprKind::Mul || !value)
    return false;
  return addLinear(binary.getLHS(), factor * value.getValue(), constant,
                   coefficients);
}

Access Access::create(AffineMap map, ArrayRef<int64_t> shape,
                      ArrayRef<int64_t> extents) {
  Access access;
  access.map = map;
  access.shape.assign(shape.begin(), shape.end());
  access.extents.assign(extents.begin(), extents.end());
  access.strides.assign(extents.size(), 0);
  auto elementStrides = stridesOf(shape);
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    if (access.isLinear)
      access.isLinear =
          addLinear(expr, elementStrides[dim], access.base, access.strides);
  if (!access.isLinear)
    access.strides.assign(extents.size(), 0);
  return access;
}

std::optional<Access::OutOfRange> Access::outOfRange() const {
  if (!isLinear) {
    SmallVector<int64_t, 6> point(extents.size(), 0);
    do {
      for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
        int64_t index = evaluateAffine(expr, point, {}).value_or(-1);
        if (index < 0 || index >= shape[dim])
          return OutOfRange{int64_t(dim), index};
      }
    } while (advance(point, extents));
    return std::nullopt;
  }
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    int64_t low = 0;
    SmallVector<int64_t, 6> coefficients(extents.size(), 0);
    addLinear(expr, 1, low, coefficients);
    int64_t high = low;
    for (auto [coefficient, extent] : llvm::zip_equal(coefficients, extents))
      (coefficient < 0 ? low : high) += coefficient * (extent - 1);
    if (low < 0)
      return OutOfRange{int64_t(dim), low};
    if (high >= shape[dim])
      return OutOfRange{int64_t(dim), high};
  }
  return std::nullopt;
}

void Access::bind(const HostTensor &tensor) {
  if (tensor.isFloat())
    floatData = tensor.f().data();
  else
    intData = tensor.i().data();
}

void Access::bindMutable(HostTensor &tensor) {
  if (tensor.isFloat())
    floatData = tensor.mutableF().data();
  else
    intData = tensor.mutableI().data();
}

void Access::moveTo(ArrayRef<int64_t> point) {
  at = base;
  for (auto [index, stride] : llvm::zip_equal(point, strides))
    at += index * stride;
}

int64_t Access::offsetAt(ArrayRef<int64_t> point) const {
  int64_t offset = 0;
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    offset = offset * shape[dim] + *evaluateAffine(expr, point, {});
  return offset;
}

} // namespace drawloom::interpreter
