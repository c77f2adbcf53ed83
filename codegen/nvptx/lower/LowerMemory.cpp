//===- LowerMemory.cpp - tiles from and to memory -------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/lower/LowerKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/MapVector.h"
#include <numeric>

using namespace mlir;
using drawloom::tile::Digit;
using drawloom::tile::Layout;

namespace drawloom::nvptx {

Value LowerKernel::addBytes(Value address, int64_t bytes) {
  if (bytes == 0)
    return address;
  // Constants in the op itself have fewer bits than memory has addresses.
  if (!llvm::isInt<28>(bytes))
    return LLVM::GEPOp::create(builder, loc, address.getType(),
                               builder.getI8Type(), address,
                               ArrayRef<LLVM::GEPArg>{constant(bytes, 64)});
  return LLVM::GEPOp::create(
      builder, loc, address.getType(), builder.getI8Type(), address,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)},
      LLVM::GEPNoWrapFlags::inbounds);
}

Value LowerKernel::addElements(Value address, Value elements, Type element) {
  if (!elements)
    return address;
  return LLVM::GEPOp::create(builder, loc, address.getType(),
                             storageType(element), address,
                             ArrayRef<LLVM::GEPArg>{elements});
}

Value LowerKernel::threadAddress(const Memory &memory, const Layout &layout,
                                 int64_t first) {
  // Both parts depend on different things: the view's on the loops around, the
  // thread's on none.
  Value address = addElements(memory.root, memory.offset, memory.element);
  Value own, far;
  int64_t reach = 0;
  for (int64_t dim = first, rank = memory.strides.size(); dim < rank; ++dim) {
    SmallVector<std::pair<int64_t, int64_t>> bits;
    for (auto [i, digit] : llvm::enumerate(layout.lanes))
      if (digit.dim == dim && !digit.replicated())
        bits.push_back({i, digit.stride * memory.strides[dim]});
    for (auto [i, digit] : llvm::enumerate(layout.warps))
      if (digit.dim == dim && !digit.replicated())
        bits.push_back(
            {Layout::laneBits + i, digit.stride * memory.strides[dim]});
    if (bits.empty())
      continue;
    for (auto [bit, worth] : bits)
      reach += worth;
    // Rows so long that threads are more than 2^31 elements apart.
    if (!llvm::isInt<32>(reach)) {
      Value coordinate = arith::ExtUIOp::create(
          builder, loc, builder.getI64Type(), threadCoordinate(layout, dim));
      Value more = arith::MulIOp::create(builder, loc, coordinate,
                                         constant(memory.strides[dim], 64));
      far = far ? arith::AddIOp::create(builder, loc, far, more).getResult()
                : more;
      continue;
    }
    Value more = valueOfBits(bits);
    own =
        own ? arith::AddIOp::create(builder, loc, own, more).getResult() : more;
  }
  if (own)
    own = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), own);
  if (far)
    own = own ? arith::AddIOp::create(builder, loc, own, far).getResult() : far;
  return addElements(address, own, memory.element);
}

/// The address in a group of registers that a loop is at.
Value LowerKernel::rolledAddress(const Memory &memory, Value address) {
  if (rolled.dim < 0 || memory.strides[rolled.dim] == 0)
    return address;
  Value more = arith::MulIOp::create(builder, loc, rolled.offset,
                                     constant(memory.strides[rolled.dim], 64));
  return addElements(address, more, memory.element);
}

SmallVector<LowerKernel::Access>
LowerKernel::accesses(const Memory &memory, const Layout &layout,
                      ArrayRef<int64_t> shape, bool rowsApart, Range range) {
  int64_t rank = shape.size();
  int64_t bytes = bytesOf(memory.element);
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

Value LowerKernel::inside(const Memory &memory, const Layout &layout,
                          ArrayRef<int64_t> shape, const Access &access) {
  SmallVector<int64_t> extents = layout.extents(shape.size());
  Value all;
  for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim) {
    std::optional<int64_t> size = getConstantIntValue(memory.sizes[dim]);
    if (size && *size >= extents[dim])
      continue;
    Value here = threadCoordinate(layout, dim);
    if (dim == rolled.dim)
      here = arith::AddIOp::create(builder, loc, here,
                                   arith::TruncIOp::create(builder, loc,
                                                           builder.getI32Type(),
                                                           rolled.offset));
    if (access.coordinates[dim] != 0)
      here = arith::AddIOp::create(builder, loc, here,
                                   constant(access.coordinates[dim], 32));
    Value condition;
    if (size) {
      condition = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                        here, constant(*size, 32));
    } else {
      here = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), here);
      condition = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                        here, cast<Value>(memory.sizes[dim]));
      // The extent may exceed the tile's own.
      if (shape[dim] < extents[dim]) {
        Value other =
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, here,
                                  constant(shape[dim], 64));
        condition = arith::AndIOp::create(builder, loc, condition, other);
      }
    }
    all = all ? arith::AndIOp::create(builder, loc, all, condition).getResult()
              : condition;
  }
  return all;
}

Value LowerKernel::isOwner(const Layout &layout) {
  int64_t mask = 0;
  for (auto [i, digit] : llvm::enumerate(layout.lanes))
    if (digit.replicated())
      mask |= int64_t(1) << i;
  for (auto [i, digit] : llvm::enumerate(layout.warps))
    if (digit.replicated())
      mask |= int64_t(1) << (Layout::laneBits + i);
  if (mask == 0)
    return {};
  Value bits = arith::AndIOp::create(builder, loc, thread, constant(mask, 32));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, bits,
                               constant(0, 32));
}

/// Where the condition is false, reads `otherwise` (an address that is valid)
/// and gives zeros.
Value LowerKernel::loadVector(Value address, Type element, int64_t count,
                              Value condition, Value otherwise,
                              DictionaryAttr place) {
  Type type = storageType(element);
  if (count > 1)
    type = VectorType::get(count, type);
  if (condition)
    address =
        LLVM::SelectOp::create(builder, loc, condition, address, otherwise);
  auto load = LLVM::LoadOp::create(builder, loc, type, address,
                                   bytesOf(element) * count);
  if (place)
    load->setAttr(elementAttr, place);
  Value value = load;
  if (condition)
    value =
        LLVM::SelectOp::create(builder, loc, condition, value, zeroOf(type));
  ++ops;
  return value;
}

/// Where the condition is false, reads nothing and gives zeros: ptxas makes one
/// predicated load of it, where a choice of addresses and of words would take
/// an instruction for each.
Value LowerKernel::loadVectorIf(Value condition, Value address, Type element,
                                int64_t count, DictionaryAttr place) {
  Type type = storageType(element);
  if (count > 1)
    type = VectorType::get(count, type);
  auto branch = scf::IfOp::create(builder, loc, type, condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value value = loadVector(address, element, count, {}, {}, place);
  scf::YieldOp::create(builder, loc, value);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, zeroOf(type));
  return branch.getResult(0);
}

void LowerKernel::unpack(Value vector, Type element, int64_t count,
                         SmallVectorImpl<Value> &values) {
  for (int64_t i = 0; i < count; ++i) {
    Value value = vector;
    if (count > 1)
      value =
          LLVM::ExtractElementOp::create(builder, loc, vector, constant(i, 32));
    if (element.isIndex())
      value = arith::IndexCastOp::create(builder, loc, element, value);
    else if (element.isInteger(1))
      value = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                    value, constant(0, 8));
    values.push_back(value);
  }
}

void LowerKernel::storeVector(Value address, ArrayRef<Value> values,
                              DictionaryAttr place) {
  Type element = values[0].getType();
  Type type = storageType(element);
  SmallVector<Value> stored =
      llvm::map_to_vector(values, [&](Value value) -> Value {
        if (element.isIndex())
          return arith::IndexCastOp::create(builder, loc, type, value);
        if (element.isInteger(1))
          return arith::ExtUIOp::create(builder, loc, type, value);
        return value;
      });
  int64_t count = stored.size();
  Value whole = stored[0];
  if (count > 1) {
    whole = LLVM::PoisonOp::create(builder, loc, VectorType::get(count, type));
    for (auto [i, value] : llvm::enumerate(stored))
      whole = LLVM::InsertElementOp::create(builder, loc, whole, value,
                                            constant(i, 32));
  }
  auto store = LLVM::StoreOp::create(builder, loc, whole, address,
                                     bytesOf(element) * count);
  if (place)
    store->setAttr(elementAttr, place);
  ++ops;
}

void LowerKernel::underCondition(Value condition,
                                 llvm::function_ref<void()> body) {
  if (!condition)
    return body();
  auto branch = scf::IfOp::create(builder, loc, condition,
                                  /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  body();
}

static int64_t bytesAt(ArrayRef<int64_t> coordinates, ArrayRef<int64_t> strides,
                       int64_t bytes, int64_t first = 0) {
  int64_t sum = 0;
  for (int64_t dim = first, rank = strides.size(); dim < rank; ++dim)
    sum += coordinates[dim] * strides[dim];
  return sum * bytes;
}

/// Whether a view has an element: then its first one may be read by every
/// thread. What is in front of the view may be written by other blocks.
static bool hasElement(ArrayRef<OpFoldResult> sizes) {
  return llvm::all_of(sizes, [](OpFoldResult size) {
    std::optional<int64_t> known = getConstantIntValue(size);
    return known && *known > 0;
  });
}

void LowerKernel::lowerLoad(tile::LoadOp op, Range range) {
  const Memory &memory = memoryOf(op.getSource());
  Layout layout = *tile::layoutOf(op.getResult().getType());
  auto shape = cast<RankedTensorType>(op.getResult().getType()).getShape();
  // No address there can be read.
  if (llvm::any_of(memory.sizes, [](OpFoldResult size) {
        return getConstantIntValue(size) == 0;
      })) {
    Registers &result = registers[op.getResult()];
    result.resize(range.end);
    std::fill(result.begin() + range.begin, result.end(),
              zeroOf(memory.element));
    return;
  }
  Value address = rolledAddress(memory, threadAddress(memory, layout));
  Value otherwise =
      hasElement(memory.sizes)
          ? addElements(memory.root, memory.offset, memory.element)
          : memory.root;
  Registers &result = registers[op.getResult()];
  result.resize(range.end);
  SmallVector<Digit> threads = threadDigits(layout);
  for (const Access &access : accesses(memory, layout, shape, false, range)) {
    Value at = addBytes(address, bytesAt(access.coordinates, memory.strides,
                                         bytesOf(memory.element)));
    Value vector = loadVector(at, memory.element, access.registers.size(),
                              inside(memory, layout, shape, access), otherwise,
                              describe(memory, access.coordinates, threads));
    SmallVector<Value> values;
    unpack(vector, memory.element, access.registers.size(), values);
    for (auto [place, value] : llvm::zip(access.registers, values))
      result[place] = value;
  }
}

/// Registers from which on threads that hold the same share them out.
static constexpr size_t leastShared = 16;

/// Threads that hold the same elements share them out: each keeps a part of
/// them. With one of them storing all, the others would wait for it; and LLVM
/// would move all that led to the values into its branch.
void LowerKernel::shareOut(Layout &layout, Registers &values, int64_t rank) {
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
    Value isUpper =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                              valueOfBits({{bit, 1}}), constant(0, 32));
    // The last digit counts slowest.
    size_t half = values.size() / 2;
    Registers kept;
    for (size_t i = 0; i < half; ++i)
      kept.push_back(arith::SelectOp::create(builder, loc, isUpper,
                                             values[half + i], values[i]));
    values = std::move(kept);
  };
  for (auto [i, digit] : llvm::enumerate(layout.warps))
    shareWith(digit, Layout::laneBits + i);
  for (auto [i, digit] : llvm::enumerate(layout.lanes))
    shareWith(digit, i);
}

void LowerKernel::lowerStore(tile::StoreOp op, Range range) {
  const Memory &memory = memoryOf(op.getDest());
  Layout layout = *tile::layoutOf(op.getSource().getType());
  auto shape = cast<RankedTensorType>(op.getSource().getType()).getShape();
  Registers source = registers.lookup(op.getSource());
  if (storeMatrices(memory, layout, shape, source, range))
    return;
  if (range.end - range.begin == layout.registerCount()) {
    shareOut(layout, source, shape.size());
    range = {0, layout.registerCount()};
  }
  Value address = rolledAddress(memory, threadAddress(memory, layout));
  underCondition(isOwner(layout), [&] {
    for (const Access &access : accesses(memory, layout, shape, false, range)) {
      SmallVector<Value> values;
      for (int64_t place : access.registers)
        values.push_back(source[place]);
      underCondition(inside(memory, layout, shape, access), [&] {
        storeVector(
            addBytes(address, bytesAt(access.coordinates, memory.strides,
                                      bytesOf(memory.element))),
            values, describe(memory, access.coordinates, threadDigits(layout)));
      });
    }
  });
}

void LowerKernel::lowerCopy(tile::CopyAsyncOp op) {
  const Memory &source = memoryOf(op.getSource());
  const Memory &dest = memoryOf(op.getDest());
  auto type = cast<RankedTensorType>(op.getTile());
  Layout layout = *tile::layoutOf(type);
  ArrayRef<int64_t> shape = type.getShape();
  int64_t bytes = bytesOf(source.element);
  Value from = threadAddress(source, layout), to = threadAddress(dest, layout);
  Value otherwise =
      hasElement(source.sizes)
          ? addElements(source.root, source.offset, source.element)
          : source.root;
  Range range{0, layout.registerCount()};
  SmallVector<Access> pieces = accesses(source, layout, shape, false, range);
  SmallVector<Access> others = accesses(dest, layout, shape, false, range);
  if (others.size() > pieces.size())
    std::swap(pieces, others);
  underCondition(isOwner(layout), [&] {
    for (const Access &access : pieces) {
      int64_t count = access.registers.size(), width = count * bytes;
      Value at =
          addBytes(from, bytesAt(access.coordinates, source.strides, bytes));
      Value there =
          addBytes(to, bytesAt(access.coordinates, dest.strides, bytes));
      Value exists = inside(source, layout, shape, access);
      SmallVector<tile::Digit> threads = threadDigits(layout);
      DictionaryAttr read = describe(source, access.coordinates, threads);
      DictionaryAttr written = describe(dest, access.coordinates, threads);
      underCondition(inside(dest, layout, shape, access), [&] {
        // There is no asynchronous copy of less.
        if (width < 4) {
          SmallVector<Value> values;
          unpack(loadVector(at, source.element, count, exists, otherwise, read),
                 source.element, count, values);
          storeVector(there, values, written);
          return;
        }
        Value size;
        if (exists) {
          at = LLVM::SelectOp::create(builder, loc, exists, at, otherwise);
          size = arith::SelectOp::create(builder, loc, exists,
                                         constant(width, 32), constant(0, 32));
        }
        auto copy = NVVM::CpAsyncOp::create(
            builder, loc, there, at, width,
            width == 16 ? NVVM::LoadCacheModifierKind::CG
                        : NVVM::LoadCacheModifierKind::CA,
            size);
        if (read) {
          copy->setAttr(elementAttr, read);
          copy->setAttr(copiedToAttr, written);
        }
        ++ops;
      });
    }
  });
}

LogicalResult LowerKernel::lowerGather(tile::GatherOp op) {
  const Memory &memory = memoryOf(op.getSource());
  Layout layout = *tile::layoutOf(op.getResult().getType());
  Layout rows = *tile::layoutOf(op.getIndices().getType());
  auto shape = cast<RankedTensorType>(op.getResult().getType()).getShape();
  const Registers indices = registers.lookup(op.getIndices());
  Memory row = memory;
  row.sizes[0] = builder.getIndexAttr(shape[0]);
  // The row is chosen by the index; the rest of the address is the thread's.
  Value address = threadAddress(memory, layout, 1);
  Registers result(layout.registerCount());
  for (const Access &access :
       accesses(row, layout, shape, true, {0, layout.registerCount()})) {
    Value index = toI64(indices[*rows.registerAt({access.coordinates[0]})]);
    Value condition = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::sge, index, constant(0, 64));
    if (Value more = inside(row, layout, shape, access))
      condition = arith::AndIOp::create(builder, loc, condition, more);
    Value at =
        addElements(address,
                    arith::MulIOp::create(builder, loc, index,
                                          constant(memory.strides[0], 64)),
                    memory.element);
    at = addBytes(at, bytesAt(access.coordinates, memory.strides,
                              bytesOf(memory.element), 1));
    Value vector =
        loadVectorIf(condition, at, memory.element, access.registers.size(),
                     describeRow(memory, layout, access));
    SmallVector<Value> values;
    unpack(vector, memory.element, access.registers.size(), values);
    for (auto [place, value] : llvm::zip(access.registers, values))
      result[place] = value;
  }
  registers[op.getResult()] = std::move(result);
  return success();
}

LogicalResult LowerKernel::lowerScatter(tile::ScatterOp op) {
  const Memory &memory = memoryOf(op.getDest());
  Layout layout = *tile::layoutOf(op.getRows().getType());
  Layout rows = *tile::layoutOf(op.getIndices().getType());
  auto shape = cast<RankedTensorType>(op.getRows().getType()).getShape();
  const Registers source = registers.lookup(op.getRows());
  const Registers indices = registers.lookup(op.getIndices());
  Memory row = memory;
  row.sizes[0] = builder.getIndexAttr(shape[0]);
  Value address = threadAddress(memory, layout, 1);
  Value owner = isOwner(layout);
  for (const Access &access :
       accesses(row, layout, shape, true, {0, layout.registerCount()})) {
    Value index = toI64(indices[*rows.registerAt({access.coordinates[0]})]);
    Value condition = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::sge, index, constant(0, 64));
    for (Value more : {owner, inside(row, layout, shape, access)})
      if (more)
        condition = arith::AndIOp::create(builder, loc, condition, more);
    SmallVector<Value> values;
    for (int64_t place : access.registers)
      values.push_back(source[place]);
    underCondition(condition, [&] {
      Value at =
          addElements(address,
                      arith::MulIOp::create(builder, loc, index,
                                            constant(memory.strides[0], 64)),
                      memory.element);
      storeVector(addBytes(at, bytesAt(access.coordinates, memory.strides,
                                       bytesOf(memory.element), 1)),
                  values, describeRow(memory, layout, access));
    });
  }
  return success();
}

LogicalResult LowerKernel::lowerLookup(tile::LookupOp op) {
  const Memory &memory = memoryOf(op.getSource());
  Layout layout = *tile::layoutOf(op.getResult().getType());
  auto shape = cast<RankedTensorType>(op.getResult().getType()).getShape();
  Value start = addElements(memory.root, memory.offset, memory.element);
  // What padding reads instead: a view that has elements has its first.
  bool hasElement = llvm::all_of(memory.sizes, [](OpFoldResult size) {
    std::optional<int64_t> known = getConstantIntValue(size);
    return known && *known > 0;
  });
  Value other = hasElement ? start : memory.root;
  Registers result;
  for (int64_t i = 0; i < layout.registerCount(); ++i) {
    Value at;
    for (auto [indices, stride] : llvm::zip(op.getIndices(), memory.strides)) {
      Value more = arith::MulIOp::create(
          builder, loc, toI64(registers.find(indices)->second[i]),
          constant(stride, 64));
      at =
          at ? arith::AddIOp::create(builder, loc, at, more).getResult() : more;
    }
    // Padding of the tile has coordinates that name nothing.
    Memory own;
    for (int64_t extent : shape)
      own.sizes.push_back(builder.getIndexAttr(extent));
    Access access{{i}, layout.registerOffset(i, shape.size())};
    Value vector = loadVector(
        addElements(start, at, memory.element), memory.element, 1,
        inside(own, layout, shape, access), other, describeAny(memory));
    unpack(vector, memory.element, 1, result);
  }
  registers[op.getResult()] = std::move(result);
  return success();
}

} // namespace drawloom::nvptx
