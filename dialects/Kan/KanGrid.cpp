//===- KanGrid.cpp - the multiresolution grid encoding --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/RowTiling.h"
#include "dialects/Interfaces/ScalarBuilder.h"
#include "dialects/Kan/Kan.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;

namespace drawloom::kan {

//===----------------------------------------------------------------------===//
// Geometry
//===----------------------------------------------------------------------===//

GridShape GridShape::create(int64_t dimensions, int64_t levels, int64_t entries,
                            int64_t features, double baseResolution,
                            double growth) {
  GridShape shape{dimensions, entries, features, {}};
  for (int64_t l = 0; l < levels; ++l) {
    GridLevel level;
    level.scale = baseResolution * std::pow(growth, l) - 1;
    if (std::fabs(level.scale - std::nearbyint(level.scale)) < 1e-6)
      level.scale = std::nearbyint(level.scale);
    level.resolution = static_cast<int64_t>(std::ceil(level.scale)) + 1;
    level.isHashed = std::pow(level.resolution + 1.0, dimensions) >
                     static_cast<double>(entries);
    int64_t stride = level.resolution + 1;
    if (level.isHashed)
      level.factors = {1, 2654435761, 805459861};
    else
      level.factors = {1, stride, stride * stride};
    shape.levels.push_back(level);
  }
  return shape;
}

int64_t GridShape::entry(const GridLevel &level,
                         ArrayRef<int64_t> vertex) const {
  int64_t sum = 0, mixed = 0;
  for (auto [v, factor] : llvm::zip(vertex, level.factors)) {
    sum += v * factor;
    mixed ^= v * factor;
  }
  return level.isHashed ? (mixed & 0xFFFFFFFF) % entries : sum;
}

template <typename Op> static GridShape shapeOf(Op op, Value x, Value tables) {
  auto type = cast<RankedTensorType>(tables.getType());
  double base = op.getBaseResolution();
  int64_t levels = type.getDimSize(0);
  double growth = 1;
  if (op.getGrowth())
    growth = op.getGrowth()->convertToDouble();
  else if (levels > 1)
    growth = std::pow(*op.getFinestResolution() / base, 1.0 / (levels - 1));
  return GridShape::create(cast<RankedTensorType>(x.getType()).getDimSize(1),
                           levels, type.getDimSize(1), type.getDimSize(2), base,
                           growth);
}

GridShape GridEncodeOp::gridShape() {
  return shapeOf(*this, getX(), getTables());
}
GridShape GridEncodeVjpCoordinatesOp::gridShape() {
  return shapeOf(*this, getX(), getTables());
}
GridShape GridEncodeVjpTablesOp::gridShape() {
  return shapeOf(*this, getX(), getDtables());
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

template <typename Op>
static LogicalResult verifyGrid(Op op, Value x, Value tables, Value features,
                                StringRef featuresName) {
  auto xType = cast<RankedTensorType>(x.getType());
  auto tablesType = cast<RankedTensorType>(tables.getType());
  if (xType.getRank() != 2 ||
      (xType.getDimSize(1) != 2 && xType.getDimSize(1) != 3))
    return op.emitOpError("x must have shape [rows, 2] or [rows, 3], but is ")
           << xType;
  if (tablesType.getRank() != 3 || !tablesType.hasStaticShape() ||
      tablesType.getNumElements() == 0)
    return op.emitOpError("the tables must have shape [levels, entries, "
                          "features], static and not empty, but are ")
           << tablesType;
  auto expected =
      RankedTensorType::get({xType.getDimSize(0), tablesType.getDimSize(0) *
                                                      tablesType.getDimSize(2)},
                            tablesType.getElementType());
  if (features.getType() != expected)
    return op.emitOpError()
           << featuresName << " must be " << expected
           << " (rows x levels * features), but is " << features.getType();
  if (computeType(xType.getElementType()) !=
      computeType(tablesType.getElementType()))
    return op.emitOpError("x and the tables must both be f64, or neither, but "
                          "are ")
           << xType.getElementType() << " and " << tablesType.getElementType();
  int64_t base = op.getBaseResolution();
  if (base < 1)
    return op.emitOpError("base_resolution must be at least 1");
  if (bool(op.getGrowth()) == bool(op.getFinestResolution()))
    return op.emitOpError("needs either finest_resolution or growth");
  if (op.getFinestResolution() &&
      static_cast<int64_t>(*op.getFinestResolution()) < base)
    return op.emitOpError("finest_resolution must be at least base_resolution");
  if (op.getGrowth() && !(op.getGrowth()->convertToDouble() >= 1))
    return op.emitOpError("growth must be at least 1");
  // Positions must be exact in f32, and products of vertices and primes fit
  // 64 bits.
  double growth = op.getGrowth() ? op.getGrowth()->convertToDouble() : 1;
  double finest = op.getGrowth()
                      ? base * std::pow(growth, tablesType.getDimSize(0) - 1)
                      : static_cast<double>(
                            std::max<int64_t>(base, *op.getFinestResolution()));
  if (!(finest <= (1 << 24)))
    return op.emitOpError("the finest level's resolution exceeds 2^24");
  return success();
}

LogicalResult GridEncodeOp::verify() {
  return verifyGrid(*this, getX(), getTables(), getY(), "the result");
}
LogicalResult GridEncodeVjpCoordinatesOp::verify() {
  return verifyGrid(*this, getX(), getTables(), getG(), "g");
}
LogicalResult GridEncodeVjpTablesOp::verify() {
  return verifyGrid(*this, getX(), getDtables(), getG(), "g");
}

//===----------------------------------------------------------------------===//
// Differentiation
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>>
GridEncodeOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                       const llvm::SmallBitVector &needed) {
  SmallVector<Value> gradients(2);
  Value g = cotangents[0];
  if (needed.test(0))
    gradients[0] = GridEncodeVjpCoordinatesOp::create(
        builder, getLoc(), getX().getType(), g, getX(), getTables(),
        getBaseResolutionAttr(), getFinestResolutionAttr(), getGrowthAttr());
  if (needed.test(1))
    gradients[1] = GridEncodeVjpTablesOp::create(
        builder, getLoc(), getTables().getType(), g, getX(),
        getBaseResolutionAttr(), getFinestResolutionAttr(), getGrowthAttr());
  return gradients;
}

// <c, vjp_tables(g, x)> = <g, encode(x, c)>: linear in g, and in x it is the
// encoding of the tables c.
FailureOr<SmallVector<Value>>
GridEncodeVjpTablesOp::buildVjp(OpBuilder &builder, ValueRange cotangents,
                                const llvm::SmallBitVector &needed) {
  SmallVector<Value> gradients(2);
  Value c = cotangents[0];
  if (needed.test(0))
    gradients[0] = GridEncodeOp::create(
        builder, getLoc(), getG().getType(), getX(), c, getBaseResolutionAttr(),
        getFinestResolutionAttr(), getGrowthAttr());
  if (needed.test(1))
    gradients[1] = GridEncodeVjpCoordinatesOp::create(
        builder, getLoc(), getX().getType(), getG(), getX(), c,
        getBaseResolutionAttr(), getFinestResolutionAttr(), getGrowthAttr());
  return gradients;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

bool GridEncodeOp::isRowOperand(unsigned operandNumber) {
  return operandNumber == 0;
}
bool GridEncodeVjpCoordinatesOp::isRowOperand(unsigned operandNumber) {
  return operandNumber < 2;
}

DRAWLOOM_TILE_ROWS(GridEncodeOp)
DRAWLOOM_TILE_ROWS(GridEncodeVjpCoordinatesOp)

//===----------------------------------------------------------------------===//
// Interpretation
//===----------------------------------------------------------------------===//

/// Calls `visit(row, level, entry, weight, slopes)` for every corner of every
/// row's cell in every level, rows first. slopes[k] is the derivative of the
/// weight for coordinate k of x.
static void
visitCorners(const GridShape &shape, const HostTensor &x,
             function_ref<void(int64_t row, int64_t level, int64_t entry,
                               double weight, ArrayRef<double> slopes)>
                 visit) {
  int64_t d = shape.dimensions;
  for (int64_t r = 0; r < x.dim(0); ++r)
    for (auto [l, level] : llvm::enumerate(shape.levels)) {
      SmallVector<double, 3> fraction(d), slopeSign(d);
      SmallVector<int64_t, 3> cell(d);
      for (int64_t k = 0; k < d; ++k) {
        double value = x.f({r, k});
        double inside = std::isnan(value) ? 0 : std::clamp(value, 0.0, 1.0);
        double position = inside * level.scale + 0.5;
        cell[k] = static_cast<int64_t>(std::floor(position));
        fraction[k] = std::isnan(value) ? value : position - cell[k];
        slopeSign[k] = value < 0 || value > 1 ? 0 : level.scale;
      }
      for (int64_t corner = 0; corner < (1 << d); ++corner) {
        SmallVector<int64_t, 3> vertex(d);
        SmallVector<double, 3> factor(d), slopes(d);
        double weight = 1;
        for (int64_t k = 0; k < d; ++k) {
          bool upper = (corner >> k) & 1;
          vertex[k] = cell[k] + upper;
          factor[k] = upper ? fraction[k] : 1 - fraction[k];
          weight *= factor[k];
        }
        for (int64_t k = 0; k < d; ++k) {
          slopes[k] = (corner >> k) & 1 ? slopeSign[k] : -slopeSign[k];
          for (int64_t other = 0; other < d; ++other)
            if (other != k)
              slopes[k] *= factor[other];
        }
        visit(r, l, shape.entry(level, vertex), weight, slopes);
      }
    }
}

LogicalResult GridEncodeOp::interpret(ArrayRef<HostTensor> operands,
                                      SmallVectorImpl<HostTensor> &results) {
  const HostTensor &x = operands[0], &tables = operands[1];
  GridShape shape = gridShape();
  int64_t features = shape.features;
  HostTensor y(
      /*isFloat=*/true,
      {x.dim(0), static_cast<int64_t>(shape.levels.size()) * features});
  MutableArrayRef<double> out = y.mutableF();
  visitCorners(shape, x,
               [&](int64_t row, int64_t level, int64_t entry, double weight,
                   ArrayRef<double>) {
                 for (int64_t j = 0; j < features; ++j)
                   out[y.offset({row, level * features + j})] +=
                       weight * tables.f({level, entry, j});
               });
  results.push_back(y);
  return success();
}

LogicalResult
GridEncodeVjpTablesOp::interpret(ArrayRef<HostTensor> operands,
                                 SmallVectorImpl<HostTensor> &results) {
  const HostTensor &g = operands[0], &x = operands[1];
  GridShape shape = gridShape();
  int64_t features = shape.features;
  HostTensor gradient = HostTensor::zerosOf(getDtables().getType());
  MutableArrayRef<double> out = gradient.mutableF();
  visitCorners(shape, x,
               [&](int64_t row, int64_t level, int64_t entry, double weight,
                   ArrayRef<double>) {
                 for (int64_t j = 0; j < features; ++j)
                   out[gradient.offset({level, entry, j})] +=
                       weight * g.f({row, level * features + j});
               });
  results.push_back(gradient);
  return success();
}

LogicalResult
GridEncodeVjpCoordinatesOp::interpret(ArrayRef<HostTensor> operands,
                                      SmallVectorImpl<HostTensor> &results) {
  const HostTensor &g = operands[0], &x = operands[1], &tables = operands[2];
  GridShape shape = gridShape();
  int64_t features = shape.features;
  HostTensor dx(/*isFloat=*/true, x.shape());
  MutableArrayRef<double> out = dx.mutableF();
  visitCorners(shape, x,
               [&](int64_t row, int64_t level, int64_t entry, double,
                   ArrayRef<double> slopes) {
                 for (int64_t j = 0; j < features; ++j)
                   for (int64_t k = 0; k < shape.dimensions; ++k)
                     out[dx.offset({row, k})] +=
                         slopes[k] * tables.f({level, entry, j}) *
                         g.f({row, level * features + j});
               });
  results.push_back(dx);
  return success();
}

} // namespace drawloom::kan
