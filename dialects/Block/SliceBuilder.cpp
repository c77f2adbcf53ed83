//===- SliceBuilder.cpp - loops over slices of tensors --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Block/SliceBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace drawloom::block {

Value SliceBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value SliceBuilder::extent(Value tensor, int64_t dimension) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dimension))
    return index(type.getDimSize(dimension));
  return tensor::DimOp::create(b, loc, tensor, dimension);
}

SliceBuilder::Values
SliceBuilder::loop(Value lower, Value upper, ValueRange carried,
                   llvm::function_ref<Values(Value, ValueRange)> body) {
  auto op =
      scf::ForOp::create(b, loc, lower, upper, index(1), carried,
                         [&](OpBuilder &, Location, Value i, ValueRange args) {
                           scf::YieldOp::create(b, loc, body(i, args));
                         });
  return op.getResults();
}

SliceBuilder::Values
SliceBuilder::loop(Value count, ValueRange carried,
                   llvm::function_ref<Values(Value, ValueRange)> body) {
  return loop(index(0), count, carried, body);
}

SliceBuilder::Slice SliceBuilder::slice(Value tensor, int64_t dimension,
                                        Value at) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Slice s;
  s.strides.assign(type.getRank(), b.getIndexAttr(1));
  SmallVector<int64_t> shape;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    s.offsets.push_back(d == dimension ? OpFoldResult(at) : b.getIndexAttr(0));
    if (d == dimension) {
      s.sizes.push_back(b.getIndexAttr(1));
      continue;
    }
    shape.push_back(type.getDimSize(d));
    s.sizes.push_back(type.isDynamicDim(d)
                          ? OpFoldResult(extent(tensor, d))
                          : b.getIndexAttr(type.getDimSize(d)));
  }
  s.type = RankedTensorType::get(shape, type.getElementType());
  return s;
}

Value SliceBuilder::read(Value tensor, int64_t dimension, Value at) {
  Slice s = slice(tensor, dimension, at);
  return tensor::ExtractSliceOp::create(b, loc, s.type, tensor, s.offsets,
                                        s.sizes, s.strides);
}

Value SliceBuilder::write(Value part, Value tensor, int64_t dimension,
                          Value at) {
  Slice s = slice(tensor, dimension, at);
  return tensor::InsertSliceOp::create(b, loc, part, tensor, s.offsets, s.sizes,
                                       s.strides);
}

Value SliceBuilder::rowNumber(Value indices, Value i) {
  Value row = tensor::ExtractOp::create(b, loc, indices, i);
  if (row.getType().isIndex())
    return row;
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), row);
}

Value SliceBuilder::isRow(Value number) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, number,
                               index(0));
}

Value SliceBuilder::zero(Type element) {
  return arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
}

Value SliceBuilder::filled(Value scalar, Value tensor) {
  return linalg::FillOp::create(b, loc, scalar, tensor).getResult(0);
}

Value SliceBuilder::emptyLike(Value like, Type element) {
  return tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, like),
                                 element);
}

SliceBuilder::Values
SliceBuilder::elementwise(ValueRange inputs, ValueRange outputs,
                          llvm::function_ref<Values(ValueRange)> body) {
  auto type = cast<RankedTensorType>(outputs.front().getType());
  auto identity = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<AffineMap> maps;
  for (Value input : inputs)
    maps.push_back(isa<RankedTensorType>(input.getType())
                       ? identity
                       : AffineMap::get(type.getRank(), 0, b.getContext()));
  maps.append(outputs.size(), identity);
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  auto op = linalg::GenericOp::create(
      b, loc, TypeRange(outputs), inputs, outputs, maps, loops,
      [&](OpBuilder &nested, Location, ValueRange elements) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(nested.getInsertionBlock(),
                            nested.getInsertionPoint());
        linalg::YieldOp::create(b, loc, body(elements));
      });
  return op.getResults();
}

scf::ForallOp blocksOf(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> grid,
                       ValueRange outs) {
  SmallVector<Attribute> units;
  // A call may give an open number as 1.
  if (llvm::all_of(grid, [](OpFoldResult count) {
        return isOneInteger(count) || isa<Value>(count);
      }))
    for (size_t dim = 0; dim < grid.size(); ++dim)
      units.push_back(gpu::GPUBlockMappingAttr::get(
          b.getContext(), static_cast<gpu::MappingId>(dim)));
  std::optional<ArrayAttr> mapping;
  if (!units.empty())
    mapping = b.getArrayAttr(units);
  return scf::ForallOp::create(b, loc, grid, outs, mapping);
}

} // namespace drawloom::block
