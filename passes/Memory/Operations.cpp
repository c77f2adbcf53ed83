//===- Operations.cpp - arithmetic of a program ---------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Memory/Operations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace llvm;

namespace drawloom {

/// Operations of one execution of an op by itself, for each of its elements.
static double scalarOperations(mlir::Operation &op) {
  mlir::Type type =
      op.getNumResults() ? op.getResult(0).getType() : mlir::Type();
  if (!type || !mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(type)))
    return 0;
  if (mlir::isa<mlir::math::FmaOp>(op))
    return 2;
  // Choosing, converting and copying are not arithmetic.
  if (mlir::isa<mlir::arith::AddFOp, mlir::arith::SubFOp, mlir::arith::MulFOp,
                mlir::arith::DivFOp, mlir::arith::MaximumFOp,
                mlir::arith::MinimumFOp, mlir::arith::MaxNumFOp,
                mlir::arith::MinNumFOp>(op) ||
      mlir::isa<mlir::math::MathDialect>(op.getDialect()))
    return 1;
  return 0;
}

static std::optional<double> countBlock(mlir::Block &block);

std::optional<double> countRegions(mlir::Operation &op) {
  double sum = 0;
  for (mlir::Region &region : op.getRegions())
    for (mlir::Block &block : region) {
      std::optional<double> inner = countBlock(block);
      if (!inner)
        return std::nullopt;
      sum += *inner;
    }
  return sum;
}

/// Operations of the vector dialect's arithmetic; nothing for other ops.
static std::optional<double> vectorOperations(mlir::Operation &op) {
  auto elements = [](mlir::Type type) {
    auto vector = mlir::dyn_cast<mlir::VectorType>(type);
    return vector ? static_cast<double>(vector.getNumElements()) : 1.0;
  };
  if (mlir::isa<mlir::vector::FMAOp, mlir::vector::OuterProductOp>(op))
    return 2 * elements(op.getResult(0).getType());
  if (mlir::isa<mlir::vector::ReductionOp, mlir::vector::MultiDimReductionOp>(
          op))
    return elements(op.getOperand(0).getType());
  if (auto contract = mlir::dyn_cast<mlir::vector::ContractionOp>(op)) {
    llvm::SmallVector<int64_t> extents;
    contract.getIterationBounds(extents);
    double points = 2;
    for (int64_t extent : extents)
      points *= static_cast<double>(extent);
    return points;
  }
  return std::nullopt;
}

std::optional<double> countOperations(mlir::Operation &op) {
  if (auto linalg = mlir::dyn_cast<mlir::linalg::LinalgOp>(op)) {
    double points = 1;
    for (int64_t range : linalg.getStaticLoopRanges()) {
      if (mlir::ShapedType::isDynamic(range))
        return std::nullopt;
      points *= static_cast<double>(range);
    }
    std::optional<double> body = countBlock(*linalg.getBlock());
    return body ? std::optional(points * *body) : std::nullopt;
  }
  if (auto loop = mlir::dyn_cast<mlir::LoopLikeOpInterface>(op)) {
    auto low = loop.getLoopLowerBounds(), high = loop.getLoopUpperBounds(),
         step = loop.getLoopSteps();
    std::optional<double> inner = countRegions(op);
    if (inner && *inner == 0)
      return 0;
    if (!inner || !low || !high || !step)
      return std::nullopt;
    double trips = 1;
    for (auto [l, h, s] : zip_equal(*low, *high, *step)) {
      if (std::optional<APInt> count = mlir::constantTripCount(
              l, h, s, /*isSigned=*/true, mlir::scf::computeUbMinusLb)) {
        trips *= count->roundToDouble();
        continue;
      }
      // A loop that is cut short at the end of the rows counts as whole.
      std::optional<int64_t> low = mlir::getConstantIntValue(l),
                             step = mlir::getConstantIntValue(s);
      std::optional<int64_t> high = mlir::getConstantIntValue(h);
      if (auto bound = mlir::dyn_cast<mlir::Value>(h))
        if (auto smaller = bound.getDefiningOp<mlir::arith::MinSIOp>())
          for (mlir::Value operand : smaller->getOperands())
            if (auto constant = mlir::getConstantIntValue(operand))
              high = std::min(*constant, high.value_or(*constant));
      if (!low || !step || !high)
        return std::nullopt;
      trips *= static_cast<double>(
          divideCeil(std::max<int64_t>(0, *high - *low), *step));
    }
    return *inner * trips;
  }
  if (std::optional<double> count = vectorOperations(op))
    return count;
  double elements = 1;
  if (op.getNumResults() && scalarOperations(op) > 0)
    if (auto shaped =
            mlir::dyn_cast<mlir::ShapedType>(op.getResult(0).getType())) {
      if (!shaped.hasStaticShape())
        return std::nullopt;
      elements = static_cast<double>(shaped.getNumElements());
    }
  std::optional<double> inner = countRegions(op);
  return inner ? std::optional(*inner + elements * scalarOperations(op))
               : std::nullopt;
}

static std::optional<double> countBlock(mlir::Block &block) {
  double sum = 0;
  for (mlir::Operation &op : block) {
    std::optional<double> count = countOperations(op);
    if (!count)
      return std::nullopt;
    sum += *count;
  }
  return sum;
}

} // namespace drawloom
