//===- SlrAdapters.cpp - rows with adapters of their own ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/RowTiling.h"
#include "dialects/Slr/LoopBuilder.h"
#include "dialects/Slr/Slr.h"

using namespace mlir;

namespace drawloom::slr {

/// Whether the types fit: x [T, K], y [T, N], matrices [L, K, N], which [T],
/// scales [L].
static LogicalResult verifyAdapters(Operation *op, Value x, Value y,
                                    Value matrices, Value which, Value scales) {
  RankedTensorType stack = tensorType(matrices), rows = tensorType(x),
                   results = tensorType(y);
  if (stack.getRank() != 3 || !stack.hasStaticShape() ||
      llvm::is_contained(stack.getShape(), 0))
    return op->emitOpError("has matrices [adapters, K, N] of known extents of "
                           "at least 1, and not ")
           << stack;
  Type element = stack.getElementType();
  auto fits = [&](RankedTensorType type, int64_t columns) {
    return type.getRank() == 2 && type.getDimSize(0) == rows.getDimSize(0) &&
           type.getDimSize(1) == columns && type.getElementType() == element;
  };
  if (rows.getRank() != 2 || !fits(rows, stack.getDimSize(1)) ||
      !fits(results, stack.getDimSize(2)))
    return op->emitOpError("has rows of ")
           << stack.getDimSize(1) << " and of " << stack.getDimSize(2)
           << " elements of the type of the matrices, and not " << rows
           << " and " << results;
  if (tensorType(which).getDimSize(0) != rows.getDimSize(0))
    return op->emitOpError("has the adapter of each row: ")
           << tensorType(which) << " is not as long as " << rows;
  if (!scales)
    return success();
  RankedTensorType factors = tensorType(scales);
  if (factors.getRank() != 1 || factors.getDimSize(0) != stack.getDimSize(0) ||
      (factors.getElementType() != element &&
       !factors.getElementType().isF32()))
    return op->emitOpError("has a scale of each adapter, of the type of the "
                           "rows or f32, and not ")
           << factors;
  return success();
}

/// The number of a row's adapter; an error where there is none.
static FailureOr<int64_t> adapterOf(Operation *op, const HostTensor &which,
                                    int64_t row, int64_t count) {
  int64_t adapter = which.i({row});
  if (adapter < -1 || adapter >= count)
    return op->emitOpError("has adapter ")
           << adapter << " for row " << row << "; they are from -1 to "
           << count - 1;
  return adapter;
}

static double scaleOf(ArrayRef<HostTensor> operands, int64_t adapter) {
  return operands.size() > 3 ? operands[3].f({adapter}) : 1.0;
}

//===----------------------------------------------------------------------===//
// slr.adapter_linear
//===----------------------------------------------------------------------===//

LogicalResult AdapterLinearOp::verify() {
  return getTranspose() ? verifyAdapters(*this, getY(), getX(), getMatrices(),
                                         getWhich(), getScales())
                        : verifyAdapters(*this, getX(), getY(), getMatrices(),
                                         getWhich(), getScales());
}

DRAWLOOM_TILE_ROWS(AdapterLinearOp)

void AdapterLinearOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                  MLIRContext *context) {
  patterns.add<RememberRows<AdapterLinearOp>>(context);
}

static LogicalResult refuseScales(Operation *op,
                                  const llvm::SmallBitVector &needed) {
  if (needed.size() > 3 && needed.test(3))
    return op->emitOpError("has no gradient of the scales of adapters; where "
                           "they train, multiply the matrices by them");
  return success();
}

FailureOr<SmallVector<Value>>
AdapterLinearOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                          const llvm::SmallBitVector &needed) {
  if (failed(refuseScales(*this, needed)))
    return failure();
  SmallVector<Value> gradients(getNumOperands());
  Value g = cotangents[0];
  if (needed.test(0))
    gradients[0] = AdapterLinearOp::create(builder, getLoc(), getX().getType(),
                                           g, getMatrices(), getWhich(),
                                           getScales(), !getTranspose());
  if (needed.test(1))
    gradients[1] = AdapterOuterOp::create(
        builder, getLoc(), getMatrices().getType(), getTranspose() ? g : getX(),
        getTranspose() ? getX() : g, getWhich(), getScales());
  return gradients;
}

LogicalResult AdapterLinearOp::interpret(ArrayRef<HostTensor> operands,
                                         SmallVectorImpl<HostTensor> &results) {
  const HostTensor &x = operands[0], &matrices = operands[1],
                   &which = operands[2];
  int64_t inner = x.dim(1), outer = matrices.dim(getTranspose() ? 1 : 2);
  HostTensor y(/*isFloat=*/true, {x.dim(0), outer});
  for (int64_t t = 0; t < x.dim(0); ++t) {
    FailureOr<int64_t> l = adapterOf(*this, which, t, matrices.dim(0));
    if (failed(l))
      return failure();
    for (int64_t n = 0; n < outer && *l >= 0; ++n) {
      double sum = 0;
      for (int64_t k = 0; k < inner; ++k)
        sum += x.f({t, k}) * (getTranspose() ? matrices.f({*l, n, k})
                                             : matrices.f({*l, k, n}));
      y.mutableF()[y.offset({t, n})] = scaleOf(operands, *l) * sum;
    }
  }
  results.push_back(std::move(y));
  return success();
}

//===----------------------------------------------------------------------===//
// slr.adapter_outer
//===----------------------------------------------------------------------===//

LogicalResult AdapterOuterOp::verify() {
  return verifyAdapters(*this, getX(), getG(), getMatrices(), getWhich(),
                        getScales());
}

FailureOr<SmallVector<Value>>
AdapterOuterOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                         const llvm::SmallBitVector &needed) {
  if (failed(refuseScales(*this, needed)))
    return failure();
  // <c, outer(x, g)> = <x, linear(g, c^T)> = <g, linear(x, c)>.
  SmallVector<Value> gradients(getNumOperands());
  for (unsigned i : {0, 1})
    if (needed.test(i))
      gradients[i] = AdapterLinearOp::create(
          builder, getLoc(), getOperand(i).getType(), getOperand(1 - i),
          cotangents[0], getWhich(), getScales(), /*transpose=*/i == 0);
  return gradients;
}

LogicalResult AdapterOuterOp::interpret(ArrayRef<HostTensor> operands,
                                        SmallVectorImpl<HostTensor> &results) {
  const HostTensor &x = operands[0], &g = operands[1], &which = operands[2];
  HostTensor sums = HostTensor::zerosOf(getMatrices().getType());
  for (int64_t t = 0; t < x.dim(0); ++t) {
    FailureOr<int64_t> l = adapterOf(*this, which, t, sums.dim(0));
    if (failed(l))
      return failure();
    for (int64_t k = 0; k < x.dim(1) && *l >= 0; ++k)
      for (int64_t n = 0; n < g.dim(1); ++n)
        sums.mutableF()[sums.offset({*l, k, n})] +=
            scaleOf(operands, *l) * x.f({t, k}) * g.f({t, n});
  }
  results.push_back(std::move(sums));
  return success();
}

} // namespace drawloom::slr
