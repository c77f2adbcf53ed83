//===- Accesses.cpp - accesses of a thread to memory ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/lower/Accesses.h"
#include "codegen/nvptx/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <numeric>

using namespace mlir;
using drawloom::tile::Digit;
using drawloom::tile::Layout;

namespace drawloom::nvptx {

Value Accesses::addBytes(Value address, int64_t bytes) {
  if (bytes == 0)
    return address;
  // Constants in the op itself have fewer bits than memory has addresses.
  if (!llvm::isInt<28>(bytes))
    return LLVM::GEPOp::create(
        builder, address.getType(), builder.getI8Type(), address,
        ArrayRef<LLVM::GEPArg>{program.constant(bytes, 64)});
  return LLVM::GEPOp::create(
      builder, address.getType(), builder.getI8Type(), address,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)},
      LLVM::GEPNoWrapFlags::inbounds);
}

Value Accesses::addElements(Value address, Value elements, Type element) {
  if (!elements)
    return address;
  return LLVM::GEPOp::create(builder, address.getType(), storageType(element),
                             address, ArrayRef<LLVM::GEPArg>{elements});
}

Value Accesses::start(const Memory &memory) {
  return addElements(memory.root, memory.offset, memory.element);
}

Value Accesses::threadAddress(const Memory &memory, const Layout &layout,
                              int64_t first) {
  // Both parts depend on different things: the view's on the loops around, the
  // thread's on none.
  Value address = start(memory);
  Value own, far;
  int64_t reach = 0;
  for (int64_t dim = first, rank = memory.strides.size(); dim < rank; ++dim) {
    ThreadBits bits =
        ThreadProgram::bitsAlong(layout, dim, memory.strides[dim]);
    if (bits.empty())
      continue;
    for (auto [bit, worth] : bits)
      reach += worth;
    // Rows so long that threads are more than 2^31 elements apart.
    if (!llvm::isInt<32>(reach)) {
      Value coordinate = arith::ExtUIOp::create(
          builder, builder.getI64Type(), program.threadCoordinate(layout, dim));
      Value more = arith::MulIOp::create(
          builder, coordinate, program.constant(memory.strides[dim], 64));
      far = far ? arith::AddIOp::create(builder, far, more).getResult() : more;
      continue;
    }
    Value more = program.valueOfBits(bits);
    own = own ? arith::AddIOp::create(builder, own, more).getResult() : more;
  }
  if (own)
    own = arith::ExtUIOp::create(builder, builder.getI64Type(), own);
  if (far)
    own = own ? arith::AddIOp::create(builder, own, far).getResult() : far;
  return addElements(address, own, memory.element);
}

Value Accesses::rolledAddress(const Memory &memory, Value address) {
  if (program.rolled.dim < 0 || memory.strides[program.rolled.dim] == 0)
    return address;
  Value more = arith::MulIOp::create(
      builder, program.rolled.offset,
      program.constant(memory.strides[program.rolled.dim], 64));
  return addElements(address, more, memory.element);
}

Value Accesses::addressAt(const Memory &memory, Value address,
                          ArrayRef<int64_t> coordinates, int64_t first) {
  int64_t elements = 0;
  for (int64_t dim = first, rank = memory.strides.size(); dim < rank; ++dim)
    elements += coordinates[dim] * memory.strides[dim];
  return addBytes(address, elements * elementBytes(memory.element));
}

Value Accesses::readable(const Memory &memory) {
  // What is in front of a view may be written by other blocks, and a view
  // without elements may lie behind its buffer.
  bool hasElement = llvm::all_of(memory.sizes, [](OpFoldResult size) {
    std::optional<int64_t> known = getConstantIntValue(size);
    return known && *known > 0;
  });
  return hasElement ? start(memory) : memory.root;
}

SmallVector<Access> Accesses::of(const Memory &memory, const Layout &layout,
                                 ArrayRef<int64_t> shape, bool rowsApart,
                                 RegisterRange range) {
  int64_t rank = shape.size();
  int64_t bytes = elementBytes(memory.element);
  SmallVector<int64_t> extents = layout.extents(rank);
  // The dimension whose neighbours are neighbours in memory.
  int64_t inner = -1;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (memory.strides[dim] == 1 && extents[dim] > 1 &&
        !(rowsApart && dim == 0))
      inner = dim;
  int64_t width = 1;
  if (inner >= 0) {
    width = std::min(layout.contiguousAlong(inner),
                     std::max<int64_t>(1, 16 / bytes));
    // Whole vectors are inside or outside.
    std::optional<int64_t> size = getConstantIntValue(memory.sizes[inner]);
    auto fits = [&] {
      if (!llvm::isPowerOf2_64(width) || layout.contiguousAlong(inner) % width)
        return false;
      if (!size || std::min(*size, shape[inner]) % width != 0)
        return false;
      int64_t alignment = memory.alignment;
      for (ArrayRef<Digit> digits :
           {ArrayRef(layout.registers), ArrayRef(layout.lanes),
            ArrayRef(layout.warps)})
        for (const Digit &digit : digits)
          if (!digit.replicated() &&
              (digit.dim != inner || digit.stride >= width))
            alignment = std::gcd(
                alignment, digit.stride * memory.strides[digit.dim] * bytes);
      if (rowsApart)
        alignment = std::gcd(alignment, memory.strides[0] * bytes);
      return alignment % (width * bytes) == 0;
    };
    while (width > 1 && !fits())
      --width;
    // A part of the registers may be less than a vector.
    while ((range.end - range.begin) % width != 0)
      width /= 2;
  }
  SmallVector<Access> result;
  for (int64_t i = range.begin; i < range.end; i += width) {
    Access access;
    for (int64_t j = i; j < i + width; ++j)
      access.registers.push_back(j);
    access.coordinates = layout.registerOffset(i, rank);
    result.push_back(std::move(access));
  }
  return result;
}

Value Accesses::inside(ArrayRef<OpFoldResult> sizes, const Layout &layout,
                       ArrayRef<int64_t> shape, const Access &access) {
  SmallVector<int64_t> extents = layout.extents(shape.size());
  Value all;
  for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim) {
    std::optional<int64_t> size = getConstantIntValue(sizes[dim]);
    if (size && *size >= extents[dim])
      continue;
    Value here = program.threadCoordinate(layout, dim);
    if (dim == program.rolled.dim)
      here = arith::AddIOp::create(
          builder, here,
          arith::TruncIOp::create(builder, builder.getI32Type(),
                                  program.rolled.offset));
    if (access.coordinates[dim] != 0)
      here = arith::AddIOp::create(
          builder, here, program.constant(access.coordinates[dim], 32));
    Value condition;
    if (size) {
      condition = arith::CmpIOp::create(builder, arith::CmpIPredicate::slt,
                                        here, program.constant(*size, 32));
    } else {
      here = arith::ExtUIOp::create(builder, builder.getI64Type(), here);
      condition = arith::CmpIOp::create(builder, arith::CmpIPredicate::slt,
                                        here, cast<Value>(sizes[dim]));
      // The extent may exceed the tile's own.
      if (shape[dim] < extents[dim]) {
        Value other =
            arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, here,
                                  program.constant(shape[dim], 64));
        condition = arith::AndIOp::create(builder, condition, other);
      }
    }
    all = all ? arith::AndIOp::create(builder, all, condition).getResult()
              : condition;
  }
  return all;
}

Value Accesses::isOwner(const Layout &layout) {
  int64_t mask = 0;
  for (auto [i, digit] : llvm::enumerate(layout.lanes))
    if (digit.replicated())
      mask |= int64_t(1) << i;
  for (auto [i, digit] : llvm::enumerate(layout.warps))
    if (digit.replicated())
      mask |= int64_t(1) << (Layout::laneBits + i);
  if (mask == 0)
    return {};
  Value bits = arith::AndIOp::create(builder, program.thread,
                                     program.constant(mask, 32));
  return arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, bits,
                               program.constant(0, 32));
}

Value Accesses::loadVector(Value address, Type element, int64_t count,
                           Value condition, Value otherwise,
                           DictionaryAttr place) {
  Type type = storageType(element);
  if (count > 1)
    type = VectorType::get(count, type);
  if (condition)
    address = LLVM::SelectOp::create(builder, condition, address, otherwise);
  auto load = LLVM::LoadOp::create(builder, type, address,
                                   elementBytes(element) * count);
  if (place)
    load->setAttr(elementAttr, place);
  Value value = load;
  if (condition)
    value =
        LLVM::SelectOp::create(builder, condition, value, program.zeroOf(type));
  program.count();
  return value;
}

Value Accesses::loadVectorIf(Value condition, Value address, Type element,
                             int64_t count, DictionaryAttr place) {
  Type type = storageType(element);
  if (count > 1)
    type = VectorType::get(count, type);
  // ptxas makes one predicated load of it, where a choice of addresses and of
  // words would take an instruction for each.
  auto branch = scf::IfOp::create(builder, type, condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value value = loadVector(address, element, count, {}, {}, place);
  scf::YieldOp::create(builder, value);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, program.zeroOf(type));
  return branch.getResult(0);
}

void Accesses::unpack(Value vector, Type element, int64_t count,
                      SmallVectorImpl<Value> &values) {
  for (int64_t i = 0; i < count; ++i) {
    Value value = vector;
    if (count > 1)
      value = LLVM::ExtractElementOp::create(builder, vector,
                                             program.constant(i, 32));
    if (element.isIndex())
      value = arith::IndexCastOp::create(builder, element, value);
    else if (element.isInteger(1))
      value = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, value,
                                    program.constant(0, 8));
    values.push_back(value);
  }
}

void Accesses::storeVector(Value address, ArrayRef<Value> values,
                           DictionaryAttr place) {
  Type element = values[0].getType();
  Type type = storageType(element);
  SmallVector<Value> stored =
      llvm::map_to_vector(values, [&](Value value) -> Value {
        if (element.isIndex())
          return arith::IndexCastOp::create(builder, type, value);
        if (element.isInteger(1))
          return arith::ExtUIOp::create(builder, type, value);
        return value;
      });
  int64_t count = stored.size();
  Value whole = stored[0];
  if (count > 1) {
    whole = LLVM::PoisonOp::create(builder, VectorType::get(count, type));
    for (auto [i, value] : llvm::enumerate(stored))
      whole = LLVM::InsertElementOp::create(builder, whole, value,
                                            program.constant(i, 32));
  }
  auto store = LLVM::StoreOp::create(builder, whole, address,
                                     elementBytes(element) * count);
  if (place)
    store->setAttr(elementAttr, place);
  program.count();
}

void Accesses::underCondition(Value condition,
                              llvm::function_ref<void()> body) {
  if (!condition)
    return body();
  auto branch = scf::IfOp::create(builder, condition,
                                  /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  body();
}

} // namespace drawloom::nvptx
