//===- Shapes.cpp - tensors under other shapes ----------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/LinRec/Shapes.h"
#include "dialects/LinRec/Chunk/Recurrence.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace drawloom::linrec {

Value zeros(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes,
            Type element) {
  Value zero = arith::ConstantOp::create(
      b, loc, cast<TypedAttr>(b.getZeroAttr(element)));
  Value empty = tensor::EmptyOp::create(b, loc, sizes, element);
  return linalg::FillOp::create(b, loc, zero, empty).getResult(0);
}

Value reshaped(OpBuilder &b, Location loc, Value x, ArrayRef<int64_t> shape) {
  RankedTensorType type = Recurrence::type(x);
  auto to = RankedTensorType::get(shape, type.getElementType());
  if (type == to)
    return x;
  ReassociationIndices all;
  for (int64_t i = 0; i < type.getRank(); ++i)
    all.push_back(i);
  x = tensor::CollapseShapeOp::create(b, loc, x,
                                      ArrayRef<ReassociationIndices>{all});
  all.clear();
  for (int64_t i = 0; i < to.getRank(); ++i)
    all.push_back(i);
  return tensor::ExpandShapeOp::create(b, loc, to, x,
                                       ArrayRef<ReassociationIndices>{all});
}

Value headsApart(OpBuilder &b, Location loc, Value x, int64_t shared) {
  RankedTensorType type = Recurrence::type(x);
  SmallVector<int64_t> shape(type.getShape());
  shape[2] = shared;
  shape.insert(shape.begin() + 3, type.getDimSize(2) / shared);
  SmallVector<ReassociationIndices> groups = {{0}, {1}, {2, 3}};
  if (type.getRank() == 4)
    groups.push_back({4});
  return tensor::ExpandShapeOp::create(b, loc, type.clone(shape), x, groups);
}

Value transposed(OpBuilder &b, Location loc, Value x,
                 ArrayRef<int64_t> permutation) {
  RankedTensorType type = Recurrence::type(x);
  SmallVector<OpFoldResult> sizes;
  SmallVector<OpFoldResult> own = tensor::getMixedSizes(b, loc, x);
  for (int64_t i : permutation)
    sizes.push_back(own[i]);
  Value empty = tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
  return linalg::TransposeOp::create(b, loc, x, empty, permutation)
      .getResult()
      .front();
}

Value sumOver(OpBuilder &b, Location loc, Value x, int64_t over) {
  RankedTensorType type = Recurrence::type(x);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, x);
  sizes.erase(sizes.begin() + over);
  Value zero =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType()));
  Value empty = tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
  Value init = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  return linalg::ReduceOp::create(
             b, loc, x, init, over,
             [](OpBuilder &nested, Location at, ValueRange e) {
               Value sum = arith::AddFOp::create(nested, at, e[1], e[0]);
               linalg::YieldOp::create(nested, at, sum);
             })
      .getResult(0);
}

Value repeated(OpBuilder &b, Location loc, Value x, int64_t at, int64_t times) {
  RankedTensorType type = Recurrence::type(x);
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + at, times);
  Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  return linalg::BroadcastOp::create(b, loc, x, empty, at).getResult().front();
}

LogicalResult assertExtent(OpBuilder &b, Operation *op, Value x, int64_t dim,
                           RankedTensorType like,
                           llvm::function_ref<OpFoldResult()> extent) {
  bool isOpen = like.isDynamicDim(dim);
  if (Recurrence::type(x).isDynamicDim(dim) != isOpen)
    return op->emitOpError()
           << "leaves the number of " << (dim == 0 ? "sequences" : "tokens")
           << " open in one of " << x.getType() << " and " << like
           << ", and not in the other";
  if (!isOpen || x.getDefiningOp() == op)
    return success();
  Location loc = op->getLoc();
  Value own = tensor::DimOp::create(b, loc, x, dim);
  Value same = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, own,
                                     cast<Value>(extent()));
  cf::AssertOp::create(b, loc, same,
                       "operands of a recurrence have the same numbers of "
                       "sequences and tokens");
  return success();
}

} // namespace drawloom::linrec
