//===- AdapterTiles.cpp - rows with adapters as loops ---------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows are taken sixteen at a time. Where these have one adapter they are
// multiplied by its matrix together, else one by one.
//
//===----------------------------------------------------------------------===//

#include "dialects/Slr/LoopBuilder.h"
#include "dialects/Slr/Slr.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::slr {
namespace {

constexpr int64_t together = 16;

class AdapterBuilder : public LoopBuilder {
public:
  AdapterBuilder(OpBuilder &builder, Location loc, Type element, Value which,
                 Value scales)
      : LoopBuilder(builder, loc, element), which(which), scales(scales) {}

  /// `carried`, or what `body` makes of it where the condition holds.
  Value where(Value condition, Value carried, function_ref<Value(Value)> body) {
    Value times =
        arith::SelectOp::create(b, loc, condition, index(1), index(0));
    return loop(index(0), times, 1, carried,
                [&](Value, Value inner) { return body(inner); });
  }
  Value compare(arith::CmpIPredicate predicate, Value i, Value j) {
    return arith::CmpIOp::create(b, loc, predicate, i, j);
  }
  Value both(Value i, Value j) { return arith::AndIOp::create(b, loc, i, j); }

  /// How many of `count` rows from `first` on have this adapter.
  Value rowsOf(Value adapter, Value first, int64_t count) {
    return loop(index(0), index(count), 1, index(0), [&](Value i, Value sum) {
      Value same =
          compare(arith::CmpIPredicate::eq, at(which, add(first, i)), adapter);
      return add(sum,
                 arith::SelectOp::create(b, loc, same, index(1), index(0)));
    });
  }
  Value isThere(Value adapter) {
    return compare(arith::CmpIPredicate::sge, adapter, index(0));
  }

  /// Times the scale of an adapter, in the type that is computed in.
  Value scaled(Value x, Value adapter) {
    if (!scales)
      return x;
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, x);
    AffineMap same = b.getMultiDimIdentityMap(sizes.size());
    SmallVector<utils::IteratorType> parallel(sizes.size(),
                                              utils::IteratorType::parallel);
    ScalarBuilder outside(b, loc);
    Value scale = outside.convert(
        tensor::ExtractOp::create(b, loc, scales, adapter).getResult(), wide);
    Value out = empty(sizes, wide);
    return linalg::GenericOp::create(
               b, loc, out.getType(), x, out, ArrayRef{same, same}, parallel,
               [&](OpBuilder &inner, Location, ValueRange values) {
                 ScalarBuilder scalar(inner, loc);
                 linalg::YieldOp::create(
                     inner, loc, scalar.mul(scalar.widen(values[0]), scale));
               })
        .getResult(0);
  }

  Value which, scales;
};

} // namespace

FailureOr<SmallVector<Value>>
AdapterLinearOp::decomposeOperation(OpBuilder &builder) {
  Location loc = getLoc();
  AdapterBuilder b(builder, loc, tensorType(getX()).getElementType(),
                   getWhich(), getScales());
  ArrayRef<int64_t> shape = tensorType(getMatrices()).getShape();
  int64_t inner = tensorType(getX()).getDimSize(1),
          outer = tensorType(getY()).getDimSize(1);
  OpFoldResult zero = b.number(0), one = b.number(1);
  OpFoldResult t = tensor::getMixedSize(builder, loc, getX(), 0);

  auto multiply = [&](Value first, int64_t count, Value adapter, Value y) {
    Value rows =
        b.slice(getX(), {first, zero}, {b.number(count), b.number(inner)}, 2);
    Value matrix = b.slice(getMatrices(), {adapter, zero, zero},
                           {one, b.number(shape[1]), b.number(shape[2])}, 2);
    // The narrower side is scaled.
    if (inner < outer)
      rows = b.scaled(rows, adapter);
    SmallVector<OpFoldResult> sizes{b.number(count), b.number(outer)};
    Value product =
        b.contract(rows, 1, matrix, getTranspose() ? 1 : 0, b.zeros(sizes));
    if (inner >= outer)
      product = b.scaled(product, adapter);
    return b.insert(b.rounded(product), y, {first, zero}, sizes);
  };
  SmallVector<OpFoldResult> sizes{t, b.number(outer)};
  Value y = b.rounded(b.zeros(sizes));
  y = b.loopInSteps(
      t, {together, 1}, y, [&](Value first, int64_t count, Value made) {
        Value adapter = b.at(getWhich(), first);
        if (count == 1)
          return b.where(b.isThere(adapter), made, [&](Value rows) {
            return multiply(first, 1, adapter, rows);
          });
        Value same = b.rowsOf(adapter, first, count);
        Value uniform =
            b.compare(arith::CmpIPredicate::eq, same, b.index(count));
        made =
            b.where(b.both(uniform, b.isThere(adapter)), made, [&](Value rows) {
              return multiply(first, count, adapter, rows);
            });
        Value alone = b.compare(arith::CmpIPredicate::ne, same, b.index(count));
        return b.where(alone, made, [&](Value rows) {
          return b.loop(b.index(0), b.index(count), 1, rows,
                        [&](Value i, Value some) {
                          Value row = b.add(first, i);
                          Value own = b.at(getWhich(), row);
                          return b.where(b.isThere(own), some, [&](Value last) {
                            return multiply(row, 1, own, last);
                          });
                        });
        });
      });
  return SmallVector<Value>{b.typed(y, getY().getType())};
}

/// Into how many parts several threads find some, where an adapter's matrix has
/// this extent.
static int64_t partsOf(int64_t extent) {
  for (int64_t parts = 8; parts > 1; parts /= 2)
    if (extent % parts == 0 && extent / parts >= 64)
      return parts;
  return 1;
}

FailureOr<SmallVector<Value>>
AdapterOuterOp::decomposeOperation(OpBuilder &builder) {
  Location loc = getLoc();
  AdapterBuilder b(builder, loc, tensorType(getX()).getElementType(),
                   getWhich(), getScales());
  ArrayRef<int64_t> shape = tensorType(getMatrices()).getShape();
  OpFoldResult zero = b.number(0), one = b.number(1);
  OpFoldResult t = tensor::getMixedSize(builder, loc, getX(), 0);
  // The longer side is cut.
  unsigned cut = shape[1] >= shape[2] ? 0 : 1;
  int64_t parts = partsOf(shape[1 + cut]);
  int64_t extents[] = {shape[1], shape[2]};
  extents[cut] /= parts;
  Value empty =
      b.empty(getAsIndexOpFoldResult(builder.getContext(), shape), b.element);
  auto forall = scf::ForallOp::create(
      builder, loc, ArrayRef<OpFoldResult>{b.number(shape[0]), b.number(parts)},
      empty, std::nullopt);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(forall.getTerminator());
  Value adapter = forall.getInductionVar(0);
  SmallVector<OpFoldResult> from(2, zero),
      sizes{b.number(extents[0]), b.number(extents[1])};
  from[cut] = b.times(forall.getInductionVar(1), extents[cut]);

  auto addRows = [&](Value first, int64_t count, Value sum) {
    auto rows = [&](Value of, unsigned side) {
      return b.slice(of, {first, from[side]}, {b.number(count), sizes[side]},
                     2);
    };
    return b.contract(rows(getX(), 0), 0, rows(getG(), 1), 0, sum);
  };
  Value sum = b.loopInSteps(
      t, {together, 1}, b.zeros(sizes),
      [&](Value first, int64_t count, Value carried) {
        Value own = b.rowsOf(adapter, first, count);
        Value all = b.compare(arith::CmpIPredicate::eq, own, b.index(count));
        carried = b.where(all, carried, [&](Value some) {
          return addRows(first, count, some);
        });
        if (count == 1)
          return carried;
        Value few =
            b.both(b.compare(arith::CmpIPredicate::sgt, own, b.index(0)),
                   b.compare(arith::CmpIPredicate::slt, own, b.index(count)));
        return b.where(few, carried, [&](Value some) {
          return b.loop(
              b.index(0), b.index(count), 1, some, [&](Value i, Value last) {
                Value row = b.add(first, i);
                Value mine = b.compare(arith::CmpIPredicate::eq,
                                       b.at(getWhich(), row), adapter);
                return b.where(mine, last,
                               [&](Value one) { return addRows(row, 1, one); });
              });
        });
      });
  sum = b.rounded(b.scaled(sum, adapter));
  builder.setInsertionPointToStart(forall.getTerminator().getBody());
  SmallVector<OpFoldResult> strides(3, one);
  tensor::ParallelInsertSliceOp::create(
      builder, loc, sum, forall.getRegionIterArgs()[0],
      SmallVector<OpFoldResult>{adapter, from[0], from[1]},
      SmallVector<OpFoldResult>{one, sizes[0], sizes[1]}, strides);
  return SmallVector<Value>{forall.getResult(0)};
}

} // namespace drawloom::slr
