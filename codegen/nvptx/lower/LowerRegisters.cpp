//===- LowerRegisters.cpp - tiles out of other registers ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/lower/LowerRegisters.h"
#include "codegen/nvptx/lower/Lanes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using drawloom::tile::Layout;

namespace drawloom::nvptx {

void LowerRegisters::lowerSplat(tile::SplatOp op, RegisterRange range) {
  program.registers[op.getResult()].append(
      range.end - range.begin, program.scalars.lookup(op.getValue()));
}

void LowerRegisters::lowerIota(tile::IotaOp op, RegisterRange range) {
  Layout layout = *tile::layoutOf(op.getResult().getType());
  auto type = cast<RankedTensorType>(op.getResult().getType());
  int64_t dim = op.getDimension();
  Type index = builder.getIndexType();
  Value own = program.threadCoordinate(layout, dim), start;
  if (program.rolled.dim == dim)
    start = arith::IndexCastOp::create(builder, index, program.rolled.offset);
  Registers &result = program.registers[op.getResult()];
  for (int64_t i = range.begin; i < range.end; ++i) {
    int64_t offset = layout.registerOffset(i, type.getRank())[dim];
    // In 32 bits, in which coordinates are then compared as well.
    Value at = own;
    if (offset != 0)
      at = arith::AddIOp::create(builder, own, program.constant(offset, 32));
    at = arith::IndexCastUIOp::create(builder, index, at);
    if (start)
      at = arith::AddIOp::create(builder, at, start);
    if (!type.getElementType().isIndex())
      at = arith::IndexCastOp::create(builder, type.getElementType(), at);
    result.push_back(at);
  }
}

Registers broadcastRegisters(tile::BroadcastOp op, const Registers &source,
                             RegisterRange range) {
  Layout from = *tile::layoutOf(op.getSource().getType());
  Layout to = *tile::layoutOf(op.getResult().getType());
  int64_t rank = cast<RankedTensorType>(op.getResult().getType()).getRank();
  Registers result;
  for (int64_t i = range.begin; i < range.end; ++i) {
    SmallVector<int64_t> at = to.registerOffset(i, rank);
    SmallVector<int64_t> there;
    for (int64_t dim : op.getDims())
      there.push_back(at[dim]);
    result.push_back(source[*from.registerAt(there)]);
  }
  return result;
}

void LowerRegisters::lowerBroadcast(tile::BroadcastOp op, RegisterRange range) {
  const Registers source = program.registers.lookup(op.getSource());
  program.registers[op.getResult()].append(
      broadcastRegisters(op, source, range));
}

void LowerRegisters::lowerConvert(tile::ConvertOp op) {
  Layout from = *tile::layoutOf(op.getSource().getType());
  Layout to = *tile::layoutOf(op.getResult().getType());
  auto type = cast<RankedTensorType>(op.getResult().getType());
  const Registers source = program.registers.lookup(op.getSource());
  Registers result;
  for (int64_t i = 0; i < to.registerCount(); ++i) {
    std::optional<int64_t> at =
        from.registerAt(to.registerOffset(i, type.getRank()));
    // Padding that only the new layout has.
    result.push_back(at ? source[*at] : program.zeroOf(type.getElementType()));
  }
  program.registers[op.getResult()] = std::move(result);
}

void LowerRegisters::lowerReshape(tile::ReshapeOp op) {
  // The digits of both name the same registers, threads and order; only a digit
  // that became several may count in another order of registers.
  auto from = cast<RankedTensorType>(op.getSource().getType());
  auto to = cast<RankedTensorType>(op.getResult().getType());
  Layout before = *tile::layoutOf(from), after = *tile::layoutOf(to);
  auto linear = [](ArrayRef<int64_t> at, ArrayRef<int64_t> shape) {
    int64_t index = 0;
    for (auto [coordinate, extent] : llvm::zip(at, shape))
      index = index * extent + coordinate;
    return index;
  };
  DenseMap<int64_t, int64_t> places;
  for (int64_t i = 0; i < before.registerCount(); ++i)
    places[linear(before.registerOffset(i, from.getRank()), from.getShape())] =
        i;
  const Registers source = program.registers.lookup(op.getSource());
  Registers result;
  for (int64_t i = 0; i < after.registerCount(); ++i)
    result.push_back(source[places.lookup(
        linear(after.registerOffset(i, to.getRank()), to.getShape()))]);
  program.registers[op.getResult()] = std::move(result);
}

void LowerRegisters::lowerSlice(tile::SliceOp op) {
  Layout from = *tile::layoutOf(op.getSource().getType());
  Layout to = *tile::layoutOf(op.getResult().getType());
  auto type = cast<RankedTensorType>(op.getResult().getType());
  auto dim = static_cast<int64_t>(op.getDimension());
  auto index = static_cast<int64_t>(op.getIndex());
  // Which lanes hold it, by the bits that count along the dimension, and where.
  int64_t counted = 0, holds = 0, own = index;
  for (auto [bit, digit] : llvm::enumerate(from.lanes)) {
    if (digit.replicated() || digit.dim != dim)
      continue;
    counted |= int64_t(1) << bit;
    if (index / digit.stride % 2) {
      holds |= int64_t(1) << bit;
      own -= digit.stride;
    }
  }
  Value holder;
  if (counted)
    holder = arith::OrIOp::create(
        builder,
        arith::AndIOp::create(builder, program.thread,
                              program.constant(31 & ~counted, 32)),
        program.constant(holds, 32));
  const Registers source = program.registers.lookup(op.getSource());
  Registers result;
  for (int64_t i = 0; i < to.registerCount(); ++i) {
    SmallVector<int64_t> at = to.registerOffset(i, type.getRank());
    at.insert(at.begin() + dim, own);
    Value value = source[*from.registerAt(at)];
    result.push_back(
        holder ? exchange(program, value, holder, NVVM::ShflKind::idx) : value);
    program.count();
  }
  program.registers[op.getResult()] = std::move(result);
}

} // namespace drawloom::nvptx
