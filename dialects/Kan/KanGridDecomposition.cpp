//===- KanGridDecomposition.cpp - the grid encoding as loops --------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Levels are the outer loop, so that one level's table stays in the cache while
// all rows of a tile read it, and its constants (scale, strides or primes) are
// read once. Everything is scalar: corners are looked up at computed entries.
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/ScalarBuilder.h"
#include "dialects/Kan/Kan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::kan {
namespace {

/// A row's cell in one level.
struct Cell {
  SmallVector<Value> fractions;
  /// 1 - fraction.
  SmallVector<Value> rests;
  /// One for each corner; bit k of its number says whether it is the upper one
  /// along coordinate k.
  SmallVector<Value> entries;
};

/// The constants of the level at hand.
struct Level {
  Value scale, isHashed;
  SmallVector<Value> factors;
};

/// Writes the parts that the encoding and its gradients share.
class GridBuilder {
public:
  GridBuilder(OpBuilder &builder, Location loc, const GridShape &shape,
              Type element)
      : builder(builder), loc(loc), b(builder, loc), shape(shape),
        element(computeType(element)) {
    makeTables();
  }

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value add(Value i, Value j) {
    return arith::AddIOp::create(builder, loc, i, j);
  }
  int64_t numLevels() { return shape.levels.size(); }

  /// for i in 0 .. count, carrying `init`: body(i, carried) yields the next.
  SmallVector<Value>
  loop(Value count, ValueRange init,
       function_ref<SmallVector<Value>(Value, ValueRange)> body) {
    auto op = scf::ForOp::create(
        builder, loc, index(0), count, index(1), init,
        [&](OpBuilder &inside, Location, Value i, ValueRange carried) {
          OpBuilder::InsertionGuard guard(builder);
          builder.setInsertionPoint(inside.getInsertionBlock(),
                                    inside.getInsertionPoint());
          scf::YieldOp::create(builder, loc, body(i, carried));
        });
    return llvm::to_vector_of<Value>(op.getResults());
  }

  Level level(Value l) {
    Level result;
    result.scale = extract(scales, l);
    for (Value table : factors)
      result.factors.push_back(extract(table, l));
    result.isHashed = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ne, extract(hashed, l), index(0));
    return result;
  }

  /// The cell of row `row` of `x`.
  Cell cell(const Level &level, Value x, Value row) {
    Cell result;
    SmallVector<std::array<Value, 2>> products;
    for (int64_t k = 0; k < shape.dimensions; ++k) {
      Value coordinate = b.convert(extract(x, {row, index(k)}), element);
      Value zero = b.constant(0.0, coordinate);
      Value notBelow = b.maximum(coordinate, zero);
      Value inside = b.minimum(notBelow, b.constant(1.0, coordinate));
      Value position = b.fma(inside, level.scale, b.constant(0.5, inside));
      // A NaN stays in the fraction; the entry must be one that exists.
      Value number = arith::MaxNumFOp::create(builder, loc, position, zero);
      Value corner =
          arith::FPToSIOp::create(builder, loc, builder.getI64Type(), number);
      Value fraction = b.sub(
          position, arith::SIToFPOp::create(builder, loc, element, corner));
      result.fractions.push_back(fraction);
      result.rests.push_back(b.sub(1.0, fraction));
      Value lower = arith::IndexCastOp::create(builder, loc,
                                               builder.getIndexType(), corner);
      lower = arith::MulIOp::create(builder, loc, lower, level.factors[k]);
      products.push_back({lower, add(lower, level.factors[k])});
    }
    for (int64_t corner = 0; corner < (1 << shape.dimensions); ++corner) {
      Value sum = products[0][corner & 1], mixed = sum;
      for (int64_t k = 1; k < shape.dimensions; ++k) {
        Value product = products[k][(corner >> k) & 1];
        sum = add(sum, product);
        mixed = arith::XOrIOp::create(builder, loc, mixed, product);
      }
      result.entries.push_back(b.select(level.isHashed, wrap(mixed), sum));
    }
    return result;
  }

  /// The product over all coordinates but `without` of fraction or rest.
  Value weight(const Cell &cell, int64_t corner, int64_t without = -1) {
    Value product;
    for (int64_t k = 0; k < shape.dimensions; ++k) {
      if (k == without)
        continue;
      Value factor = (corner >> k) & 1 ? cell.fractions[k] : cell.rests[k];
      product = product ? b.mul(product, factor) : factor;
    }
    return product;
  }

  Value extract(Value tensor, ValueRange at) {
    return tensor::ExtractOp::create(builder, loc, tensor, at);
  }

  /// Column of feature `j` of level `l`.
  Value column(Value l, int64_t j) {
    return add(arith::MulIOp::create(builder, loc, l, index(shape.features)),
               index(j));
  }

  OpBuilder &builder;
  Location loc;
  ScalarBuilder b;
  const GridShape &shape;
  FloatType element;

private:
  void makeTables() {
    SmallVector<Attribute> scaleAttrs;
    SmallVector<int64_t> hashedFlags;
    SmallVector<SmallVector<int64_t>> products(shape.dimensions);
    for (const GridLevel &level : shape.levels) {
      scaleAttrs.push_back(builder.getFloatAttr(element, level.scale));
      hashedFlags.push_back(level.isHashed);
      for (int64_t k = 0; k < shape.dimensions; ++k)
        products[k].push_back(level.factors[k]);
    }
    scales = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(RankedTensorType::get({numLevels()}, element),
                               scaleAttrs));
    auto indices = [&](ArrayRef<int64_t> values) -> Value {
      return arith::ConstantOp::create(
          builder, loc,
          DenseIntElementsAttr::get(
              RankedTensorType::get({numLevels()}, builder.getIndexType()),
              values));
    };
    hashed = indices(hashedFlags);
    for (ArrayRef<int64_t> values : products)
      factors.push_back(indices(values));
  }

  /// mixed mod 2^32 mod entries, where a power of two needs no division.
  Value wrap(Value mixed) {
    int64_t entries = shape.entries;
    bool isPowerOfTwo = (entries & (entries - 1)) == 0;
    int64_t mask = isPowerOfTwo ? (entries - 1) & 0xFFFFFFFF : 0xFFFFFFFF;
    mixed = arith::AndIOp::create(builder, loc, mixed, index(mask));
    if (isPowerOfTwo)
      return mixed;
    return arith::RemUIOp::create(builder, loc, mixed, index(entries));
  }

  Value scales, hashed;
  SmallVector<Value> factors;
};

} // namespace

FailureOr<SmallVector<Value>>
GridEncodeOp::decomposeOperation(OpBuilder &builder) {
  GridShape shape = gridShape();
  Type element = getElementTypeOrSelf(getY());
  GridBuilder grid(builder, getLoc(), shape, element);
  ScalarBuilder &b = grid.b;
  Value rows = tensor::DimOp::create(builder, getLoc(), getX(), 0);
  Value empty = tensor::EmptyOp::create(
      builder, getLoc(),
      ArrayRef<OpFoldResult>{
          tensor::getMixedSize(builder, getLoc(), getX(), 0),
          builder.getIndexAttr(grid.numLevels() * shape.features)},
      element);
  auto encodeLevel = [&](Value l, ValueRange tile) {
    Level level = grid.level(l);
    return grid.loop(rows, tile, [&](Value row, ValueRange carried) {
      Cell cell = grid.cell(level, getX(), row);
      SmallVector<Value> sums(shape.features);
      for (auto [corner, entry] : llvm::enumerate(cell.entries)) {
        Value weight = grid.weight(cell, corner);
        for (auto [j, sum] : llvm::enumerate(sums)) {
          Value feature =
              b.widen(grid.extract(getTables(), {l, entry, grid.index(j)}));
          sum = sum ? b.fma(weight, feature, sum) : b.mul(weight, feature);
        }
      }
      Value out = carried[0];
      for (auto [j, sum] : llvm::enumerate(sums))
        out =
            tensor::InsertOp::create(builder, getLoc(), b.convert(sum, element),
                                     out, ValueRange{row, grid.column(l, j)});
      return SmallVector<Value>{out};
    });
  };
  return grid.loop(grid.index(grid.numLevels()), empty, encodeLevel);
}

FailureOr<SmallVector<Value>>
GridEncodeVjpCoordinatesOp::decomposeOperation(OpBuilder &builder) {
  GridShape shape = gridShape();
  Type element = getElementTypeOrSelf(getX());
  GridBuilder grid(builder, getLoc(), shape, element);
  ScalarBuilder &b = grid.b;
  Value rows = tensor::DimOp::create(builder, getLoc(), getX(), 0);
  Value empty = tensor::EmptyOp::create(
      builder, getLoc(),
      ArrayRef<OpFoldResult>{tensor::getMixedSize(builder, getLoc(), getX(), 0),
                             builder.getIndexAttr(shape.dimensions)},
      element);
  Value zero = arith::ConstantOp::create(
      builder, getLoc(), builder.getFloatAttr(grid.element, 0.0));
  // Rows outside, so that a row's sums over levels stay in registers.
  return grid.loop(rows, empty, [&](Value row, ValueRange tile) {
    auto addLevel = [&](Value l, ValueRange sums) {
      Level level = grid.level(l);
      Cell cell = grid.cell(level, getX(), row);
      SmallVector<Value> g;
      for (int64_t j = 0; j < shape.features; ++j)
        g.push_back(b.widen(grid.extract(getG(), {row, grid.column(l, j)})));
      SmallVector<Value> slopes(shape.dimensions);
      for (auto [corner, entry] : llvm::enumerate(cell.entries)) {
        Value dot;
        for (auto [j, gradient] : llvm::enumerate(g)) {
          Value feature =
              b.widen(grid.extract(getTables(), {l, entry, grid.index(j)}));
          dot = dot ? b.fma(gradient, feature, dot) : b.mul(gradient, feature);
        }
        for (auto [k, slope] : llvm::enumerate(slopes)) {
          Value term = b.mul(grid.weight(cell, corner, k), dot);
          bool isUpper = (corner >> k) & 1;
          if (!slope)
            slope = isUpper ? term : b.neg(term);
          else
            slope = isUpper ? b.add(slope, term) : b.sub(slope, term);
        }
      }
      SmallVector<Value> next;
      for (auto [sum, slope] : llvm::zip_equal(sums, slopes))
        next.push_back(b.fma(slope, level.scale, sum));
      return next;
    };
    SmallVector<Value> sums =
        grid.loop(grid.index(grid.numLevels()),
                  SmallVector<Value>(shape.dimensions, zero), addLevel);
    Value out = tile[0];
    for (auto [k, sum] : llvm::enumerate(sums)) {
      // Outside [0, 1] the encoding does not depend on the coordinate.
      Value at[] = {row, grid.index(k)};
      Value x = b.widen(grid.extract(getX(), at));
      Value isOutside = arith::OrIOp::create(builder, getLoc(), b.less(x, zero),
                                             b.less(b.constant(1.0, x), x));
      out = tensor::InsertOp::create(
          builder, getLoc(), b.convert(b.select(isOutside, zero, sum), element),
          out, at);
    }
    return SmallVector<Value>{out};
  });
}

FailureOr<SmallVector<Value>>
GridEncodeVjpTablesOp::decomposeOperation(OpBuilder &builder) {
  Location loc = getLoc();
  GridShape shape = gridShape();
  auto type = cast<RankedTensorType>(getDtables().getType());
  Type element = type.getElementType();
  GridBuilder grid(builder, loc, shape, element);
  ScalarBuilder &b = grid.b;
  Value rows = tensor::DimOp::create(builder, loc, getX(), 0);
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), element);
  auto forall = scf::ForallOp::create(
      builder, loc,
      ArrayRef<OpFoldResult>{builder.getIndexAttr(grid.numLevels())}, empty,
      std::nullopt);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(forall.getTerminator());
  Value l = forall.getInductionVar(0);
  Value destination = forall.getRegionIterArgs()[0];
  SmallVector<OpFoldResult> offsets{l, builder.getIndexAttr(0),
                                    builder.getIndexAttr(0)};
  SmallVector<OpFoldResult> sizes{builder.getIndexAttr(1),
                                  builder.getIndexAttr(shape.entries),
                                  builder.getIndexAttr(shape.features)};
  SmallVector<OpFoldResult> strides(3, builder.getIndexAttr(1));
  auto tableType =
      RankedTensorType::get({shape.entries, shape.features}, element);
  // Half types are summed in a table of f32.
  bool isNarrow = grid.element != element;
  Value table =
      isNarrow
          ? tensor::EmptyOp::create(builder, loc, tableType.getShape(),
                                    grid.element)
                .getResult()
          : tensor::ExtractSliceOp::create(builder, loc, tableType, destination,
                                           offsets, sizes, strides)
                .getResult();
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getFloatAttr(grid.element, 0.0));
  table = linalg::FillOp::create(builder, loc, zero, table).getResult(0);

  Level level = grid.level(l);
  table = grid.loop(rows, table, [&](Value row, ValueRange carried) {
    Cell cell = grid.cell(level, getX(), row);
    SmallVector<Value> g;
    for (int64_t j = 0; j < shape.features; ++j)
      g.push_back(b.widen(grid.extract(getG(), {row, grid.column(l, j)})));
    Value sums = carried[0];
    for (auto [corner, entry] : llvm::enumerate(cell.entries)) {
      Value weight = grid.weight(cell, corner);
      for (auto [j, gradient] : llvm::enumerate(g)) {
        Value at[] = {entry, grid.index(j)};
        Value sum = b.fma(weight, gradient, grid.extract(sums, at));
        sums = tensor::InsertOp::create(builder, loc, sum, sums, at);
      }
    }
    return SmallVector<Value>{sums};
  })[0];
  if (isNarrow) {
    Value slice = tensor::ExtractSliceOp::create(
        builder, loc, tableType, destination, offsets, sizes, strides);
    AffineMap map = AffineMap::getMultiDimIdentityMap(2, builder.getContext());
    table =
        linalg::GenericOp::create(
            builder, loc, tableType, table, slice, ArrayRef{map, map},
            SmallVector<utils::IteratorType>(2, utils::IteratorType::parallel),
            [](OpBuilder &inside, Location loc, ValueRange args) {
              ScalarBuilder b(inside, loc);
              linalg::YieldOp::create(inside, loc, b.convert(args[0], args[1]));
            })
            .getResult(0);
  }
  // As wide as the whole, so that what reads the gradient can join the blocks.
  Value whole = tensor::ExpandShapeOp::create(
      builder, loc,
      RankedTensorType::get({1, shape.entries, shape.features}, element), table,
      ArrayRef<ReassociationIndices>{{0, 1}, {2}});
  builder.setInsertionPointToStart(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(builder, loc, whole, destination,
                                        offsets, sizes, strides);
  return SmallVector<Value>{forall.getResult(0)};
}

} // namespace drawloom::kan
