//===- LowerMemory.cpp - tiles from and to memory -------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/lower/LowerMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using drawloom::tile::Digit;
using drawloom::tile::Layout;

namespace drawloom::nvptx {

void LowerMemory::lowerLoad(tile::LoadOp op, RegisterRange range) {
  const Memory &memory = views.memoryOf(op.getSource());
  Layout layout = *tile::layoutOf(op.getResult().getType());
  auto shape = cast<RankedTensorType>(op.getResult().getType()).getShape();
  // No address there can be read.
  if (llvm::any_of(memory.sizes, [](OpFoldResult size) {
        return getConstantIntValue(size) == 0;
      })) {
    Registers &result = program.registers[op.getResult()];
    result.resize(range.end);
    std::fill(result.begin() + range.begin, result.end(),
              program.zeroOf(memory.element));
    return;
  }
  Value address =
      accesses.rolledAddress(memory, accesses.threadAddress(memory, layout));
  Value otherwise = accesses.readable(memory);
  Registers &result = program.registers[op.getResult()];
  result.resize(range.end);
  SmallVector<Digit> threads = DescribeAccess::threadDigits(layout);
  for (const Access &access :
       accesses.of(memory, layout, shape, false, range)) {
    Value at = accesses.addressAt(memory, address, access.coordinates);
    Value vector = accesses.loadVector(
        at, memory.element, access.registers.size(),
        accesses.inside(memory.sizes, layout, shape, access), otherwise,
        descriptions.element(memory, access.coordinates, threads));
    SmallVector<Value> values;
    accesses.unpack(vector, memory.element, access.registers.size(), values);
    for (auto [place, value] : llvm::zip(access.registers, values))
      result[place] = value;
  }
}

/// Registers from which on threads that hold the same share them out.
static constexpr size_t leastShared = 16;

void LowerMemory::shareOut(Layout &layout, Registers &values, int64_t rank) {
  // With one thread storing all, the others would wait for it; and LLVM would
  // move all that led to the values into its branch.
  auto shareWith = [&](tile::Digit &digit, int64_t bit) {
    if (!digit.replicated() || values.size() < leastShared)
      return;
    tile::Digit &own = layout.registers.back();
    bool isVector = own.dim == rank - 1 && own.stride == 1;
    if (own.replicated() || isVector || own.extent % 2 != 0)
      return;
    own.extent /= 2;
    digit = {own.dim, own.stride * own.extent, 2};
    if (own.extent == 1)
      layout.registers.pop_back();
    Value isUpper = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne,
                                          program.valueOfBits({{bit, 1}}),
                                          program.constant(0, 32));
    // The last digit counts slowest.
    size_t half = values.size() / 2;
    Registers kept;
    for (size_t i = 0; i < half; ++i)
      kept.push_back(arith::SelectOp::create(builder, isUpper, values[half + i],
                                             values[i]));
    values = std::move(kept);
  };
  for (auto [i, digit] : llvm::enumerate(layout.warps))
    shareWith(digit, Layout::laneBits + i);
  for (auto [i, digit] : llvm::enumerate(layout.lanes))
    shareWith(digit, i);
}

void LowerMemory::lowerStore(tile::StoreOp op, RegisterRange range) {
  const Memory &memory = views.memoryOf(op.getDest());
  Layout layout = *tile::layoutOf(op.getSource().getType());
  auto shape = cast<RankedTensorType>(op.getSource().getType()).getShape();
  Registers source = program.registers.lookup(op.getSource());
  if (matrices.store(memory, layout, shape, source, range))
    return;
  if (range.end - range.begin == layout.registerCount()) {
    shareOut(layout, source, shape.size());
    range = {0, layout.registerCount()};
  }
  Value address =
      accesses.rolledAddress(memory, accesses.threadAddress(memory, layout));
  accesses.underCondition(accesses.isOwner(layout), [&] {
    for (const Access &access :
         accesses.of(memory, layout, shape, false, range)) {
      SmallVector<Value> values;
      for (int64_t place : access.registers)
        values.push_back(source[place]);
      accesses.underCondition(
          accesses.inside(memory.sizes, layout, shape, access), [&] {
            accesses.storeVector(
                accesses.addressAt(memory, address, access.coordinates), values,
                descriptions.element(memory, access.coordinates,
                                     DescribeAccess::threadDigits(layout)));
          });
    }
  });
}

void LowerMemory::lowerCopy(tile::CopyAsyncOp op) {
  const Memory &source = views.memoryOf(op.getSource());
  const Memory &dest = views.memoryOf(op.getDest());
  auto type = cast<RankedTensorType>(op.getTile());
  Layout layout = *tile::layoutOf(type);
  ArrayRef<int64_t> shape = type.getShape();
  Value from = accesses.threadAddress(source, layout);
  Value to = accesses.threadAddress(dest, layout);
  Value otherwise = accesses.readable(source);
  RegisterRange range{0, layout.registerCount()};
  SmallVector<Access> pieces = accesses.of(source, layout, shape, false, range);
  SmallVector<Access> others = accesses.of(dest, layout, shape, false, range);
  if (others.size() > pieces.size())
    std::swap(pieces, others);
  SmallVector<Digit> threads = DescribeAccess::threadDigits(layout);
  accesses.underCondition(accesses.isOwner(layout), [&] {
    for (const Access &access : pieces) {
      Piece piece;
      piece.from = accesses.addressAt(source, from, access.coordinates);
      piece.to = accesses.addressAt(dest, to, access.coordinates);
      piece.exists = accesses.inside(source.sizes, layout, shape, access);
      piece.otherwise = otherwise;
      piece.read = descriptions.element(source, access.coordinates, threads);
      piece.written = descriptions.element(dest, access.coordinates, threads);
      piece.element = source.element;
      piece.count = access.registers.size();
      accesses.underCondition(
          accesses.inside(dest.sizes, layout, shape, access),
          [&] { copyPiece(piece); });
    }
  });
}

void LowerMemory::copyPiece(const Piece &piece) {
  int64_t width = piece.count * elementBytes(piece.element);
  // There is no asynchronous copy of less.
  if (width < 4) {
    SmallVector<Value> values;
    accesses.unpack(accesses.loadVector(piece.from, piece.element, piece.count,
                                        piece.exists, piece.otherwise,
                                        piece.read),
                    piece.element, piece.count, values);
    accesses.storeVector(piece.to, values, piece.written);
    return;
  }
  Value from = piece.from, size;
  if (piece.exists) {
    from = LLVM::SelectOp::create(builder, piece.exists, from, piece.otherwise);
    size = arith::SelectOp::create(builder, piece.exists,
                                   program.constant(width, 32),
                                   program.constant(0, 32));
  }
  auto copy =
      NVVM::CpAsyncOp::create(builder, piece.to, from, width,
                              width == 16 ? NVVM::LoadCacheModifierKind::CG
                                          : NVVM::LoadCacheModifierKind::CA,
                              size);
  if (piece.read) {
    copy->setAttr(elementAttr, piece.read);
    copy->setAttr(copiedToAttr, piece.written);
  }
  program.count();
}

Value LowerMemory::addressInRow(const Memory &memory, Value address,
                                Value index, const Access &access) {
  Value more = arith::MulIOp::create(builder, index,
                                     program.constant(memory.strides[0], 64));
  return accesses.addressAt(memory,
                            accesses.addElements(address, more, memory.element),
                            access.coordinates, 1);
}

void LowerMemory::lowerGather(tile::GatherOp op) {
  const Memory &memory = views.memoryOf(op.getSource());
  Layout layout = *tile::layoutOf(op.getResult().getType());
  Layout rows = *tile::layoutOf(op.getIndices().getType());
  auto shape = cast<RankedTensorType>(op.getResult().getType()).getShape();
  const Registers indices = program.registers.lookup(op.getIndices());
  Memory row = memory;
  row.sizes[0] = builder.getIndexAttr(shape[0]);
  // The row is chosen by the index; the rest of the address is the thread's.
  Value address = accesses.threadAddress(memory, layout, 1);
  Registers result(layout.registerCount());
  for (const Access &access :
       accesses.of(row, layout, shape, true, {0, layout.registerCount()})) {
    Value index =
        program.toI64(indices[*rows.registerAt({access.coordinates[0]})]);
    Value condition = arith::CmpIOp::create(builder, arith::CmpIPredicate::sge,
                                            index, program.constant(0, 64));
    if (Value more = accesses.inside(row.sizes, layout, shape, access))
      condition = arith::AndIOp::create(builder, condition, more);
    Value at = addressInRow(memory, address, index, access);
    Value vector = accesses.loadVectorIf(
        condition, at, memory.element, access.registers.size(),
        descriptions.row(memory, layout, access));
    SmallVector<Value> values;
    accesses.unpack(vector, memory.element, access.registers.size(), values);
    for (auto [place, value] : llvm::zip(access.registers, values))
      result[place] = value;
  }
  program.registers[op.getResult()] = std::move(result);
}

void LowerMemory::lowerScatter(tile::ScatterOp op) {
  const Memory &memory = views.memoryOf(op.getDest());
  Layout layout = *tile::layoutOf(op.getRows().getType());
  Layout rows = *tile::layoutOf(op.getIndices().getType());
  auto shape = cast<RankedTensorType>(op.getRows().getType()).getShape();
  const Registers source = program.registers.lookup(op.getRows());
  const Registers indices = program.registers.lookup(op.getIndices());
  Memory row = memory;
  row.sizes[0] = builder.getIndexAttr(shape[0]);
  Value address = accesses.threadAddress(memory, layout, 1);
  Value owner = accesses.isOwner(layout);
  for (const Access &access :
       accesses.of(row, layout, shape, true, {0, layout.registerCount()})) {
    Value index =
        program.toI64(indices[*rows.registerAt({access.coordinates[0]})]);
    Value condition = arith::CmpIOp::create(builder, arith::CmpIPredicate::sge,
                                            index, program.constant(0, 64));
    for (Value more :
         {owner, accesses.inside(row.sizes, layout, shape, access)})
      if (more)
        condition = arith::AndIOp::create(builder, condition, more);
    SmallVector<Value> values;
    for (int64_t place : access.registers)
      values.push_back(source[place]);
    accesses.underCondition(condition, [&] {
      accesses.storeVector(addressInRow(memory, address, index, access), values,
                           descriptions.row(memory, layout, access));
    });
  }
}

void LowerMemory::lowerLookup(tile::LookupOp op) {
  const Memory &memory = views.memoryOf(op.getSource());
  Layout layout = *tile::layoutOf(op.getResult().getType());
  auto shape = cast<RankedTensorType>(op.getResult().getType()).getShape();
  // Padding of the tile has coordinates that name nothing.
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(builder.getContext(), shape);
  Value start = accesses.start(memory), other = accesses.readable(memory);
  Registers result;
  for (int64_t i = 0; i < layout.registerCount(); ++i) {
    Value at;
    for (auto [indices, stride] : llvm::zip(op.getIndices(), memory.strides)) {
      Value more = arith::MulIOp::create(
          builder, program.toI64(program.registers.find(indices)->second[i]),
          program.constant(stride, 64));
      at = at ? arith::AddIOp::create(builder, at, more).getResult() : more;
    }
    Access access{{i}, layout.registerOffset(i, shape.size())};
    Value vector = accesses.loadVector(
        accesses.addElements(start, at, memory.element), memory.element, 1,
        accesses.inside(sizes, layout, shape, access), other,
        descriptions.any(memory));
    accesses.unpack(vector, memory.element, 1, result);
  }
  program.registers[op.getResult()] = std::move(result);
}

void LowerMemory::lowerNumber(memref::LoadOp op) {
  const Memory &memory = views.memoryOf(op.getMemRef());
  Value at = memory.offset;
  for (auto [index, stride] : llvm::zip(op.getIndices(), memory.strides)) {
    Value more = program.toI64(program.scalars.lookup(index));
    more = arith::MulIOp::create(builder, more, program.constant(stride, 64));
    at = at ? arith::AddIOp::create(builder, at, more).getResult() : more;
  }
  Value address = accesses.addElements(memory.root, at, memory.element);
  Value vector = accesses.loadVector(address, memory.element, 1, {}, {},
                                     descriptions.any(memory));
  SmallVector<Value> values;
  accesses.unpack(vector, memory.element, 1, values);
  program.scalars.map(op.getResult(), values[0]);
}

} // namespace drawloom::nvptx
