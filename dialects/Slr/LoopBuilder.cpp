//===- LoopBuilder.cpp - loops over parts of tensors ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Slr/LoopBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::slr {

Value LoopBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value LoopBuilder::add(Value i, Value j) {
  return arith::AddIOp::create(b, loc, i, j);
}

Value LoopBuilder::subtract(Value i, Value j) {
  return arith::SubIOp::create(b, loc, i, j);
}

Value LoopBuilder::times(Value i, int64_t factor) {
  return arith::MulIOp::create(b, loc, i, index(factor));
}

Value LoopBuilder::least(Value i, Value j) {
  return arith::MinSIOp::create(b, loc, i, j);
}

Value LoopBuilder::at(Value array, Value i) {
  Value element = tensor::ExtractOp::create(b, loc, array, i);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), element);
}

Value LoopBuilder::loop(Value from, Value to, int64_t step, Value init,
                        Body body) {
  auto op = scf::ForOp::create(b, loc, from, to, index(step), init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(op.getBody());
  Value next = body(op.getInductionVar(), op.getRegionIterArg(0));
  scf::YieldOp::create(b, loc, next);
  return op.getResult(0);
}

Value LoopBuilder::loopOver(Value starts, Value i, Value init, Body body) {
  Value from = at(starts, i), to = at(starts, add(i, index(1)));
  return loop(from, to, 1, init, body);
}

Value LoopBuilder::loopInSteps(
    OpFoldResult count, ArrayRef<int64_t> steps, Value init,
    llvm::function_ref<Value(Value, int64_t, Value)> body) {
  OpFoldResult from = number(0);
  for (int64_t step : steps) {
    OpFoldResult to = math.sub(count, math.rem(count, number(step)));
    if (!isEqualConstantIntOrValue(from, to))
      init =
          loop(getValueOrCreateConstantIndexOp(b, loc, from),
               getValueOrCreateConstantIndexOp(b, loc, to), step, init,
               [&](Value i, Value carried) { return body(i, step, carried); });
    from = to;
  }
  return init;
}

SmallVector<OpFoldResult> LoopBuilder::folded(Sizes sizes) {
  return llvm::map_to_vector(sizes, [&](OpFoldResult size) {
    std::optional<int64_t> known = getConstantIntValue(size);
    return known ? number(*known) : size;
  });
}

Value LoopBuilder::empty(Sizes sizes, Type type) {
  return tensor::EmptyOp::create(b, loc, folded(sizes), type);
}

Value LoopBuilder::zeros(Sizes sizes) {
  Value zero = arith::ConstantOp::create(
      b, loc, cast<TypedAttr>(b.getFloatAttr(wide, 0.0)));
  return linalg::FillOp::create(b, loc, zero, empty(sizes, wide)).getResult(0);
}

Value LoopBuilder::typed(Value x, Type type) {
  return x.getType() == type
             ? x
             : tensor::CastOp::create(b, loc, type, x).getResult();
}

Value LoopBuilder::transpose(Value x) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, x);
  std::swap(sizes[0], sizes[1]);
  return linalg::TransposeOp::create(
             b, loc, x, empty(sizes, getElementTypeOrSelf(x.getType())),
             ArrayRef<int64_t>{1, 0})
      ->getResult(0);
}

Value LoopBuilder::slice(Value x, Sizes offsets, Sizes sizes, unsigned rank) {
  SmallVector<OpFoldResult> strides(offsets.size(), number(1));
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes.take_back(rank))
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  return tensor::ExtractSliceOp::create(
      b, loc, RankedTensorType::get(shape, getElementTypeOrSelf(x.getType())),
      x, offsets, folded(sizes), strides);
}

Value LoopBuilder::insert(Value part, Value into, Sizes offsets, Sizes sizes) {
  SmallVector<OpFoldResult> strides(offsets.size(), number(1));
  return tensor::InsertSliceOp::create(b, loc, part, into, offsets,
                                       folded(sizes), strides);
}

Value LoopBuilder::rounded(Value x) {
  if (wide == element)
    return x;
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, x);
  AffineMap same = b.getMultiDimIdentityMap(sizes.size());
  SmallVector<utils::IteratorType> parallel(sizes.size(),
                                            utils::IteratorType::parallel);
  Value out = empty(sizes, element);
  return linalg::GenericOp::create(
             b, loc, out.getType(), x, out, ArrayRef{same, same}, parallel,
             [&](OpBuilder &inner, Location, ValueRange values) {
               ScalarBuilder scalar(inner, loc);
               linalg::YieldOp::create(inner, loc,
                                       scalar.convert(values[0], element));
             })
      .getResult(0);
}

Value LoopBuilder::accumulate(Value left, Value right, Value sum,
                              ArrayRef<AffineMap> maps,
                              utils::IteratorType loops) {
  return linalg::GenericOp::create(
             b, loc, sum.getType(), ValueRange{left, right}, sum, maps, loops,
             [&](OpBuilder &inner, Location, ValueRange values) {
               ScalarBuilder scalar(inner, loc);
               Value a = scalar.widen(values[0]);
               Value c = scalar.widen(values[1]);
               auto contract = arith::FastMathFlags::contract;
               Value product =
                   arith::MulFOp::create(inner, loc, a, c, contract);
               Value next = arith::AddFOp::create(inner, loc, values[2],
                                                  product, contract);
               linalg::YieldOp::create(inner, loc, next);
             })
      .getResult(0);
}

Value LoopBuilder::contract(Value left, unsigned leftK, Value right,
                            unsigned rightK, Value sum) {
  AffineExpr m = b.getAffineDimExpr(0), n = b.getAffineDimExpr(1),
             k = b.getAffineDimExpr(2);
  auto map = [&](AffineExpr i, AffineExpr j) {
    return AffineMap::get(3, 0, {i, j}, b.getContext());
  };
  return linalg::ContractOp::create(
             b, loc, sum.getType(), ValueRange{left, right}, ValueRange{sum},
             b.getAffineMapArrayAttr({leftK ? map(m, k) : map(k, m),
                                      rightK ? map(n, k) : map(k, n),
                                      map(m, n)}))
      .getResult(0);
}

} // namespace drawloom::slr
