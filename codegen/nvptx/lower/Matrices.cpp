//===- Matrices.cpp - 8 x 8 matrices from and to shared memory ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/lower/Matrices.h"
#include "codegen/nvptx/Passes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using drawloom::tile::Digit;
using drawloom::tile::Layout;

namespace drawloom::nvptx {

Registers Matrices::load(Value address, int64_t bytes, int64_t count,
                         bool transposed, DictionaryAttr element) {
  Type i32 = builder.getI32Type();
  Type type = i32;
  if (count > 1)
    type = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                            SmallVector<Type>(count, i32));
  auto shape = NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8);
  auto loaded = NVVM::LdMatrixOp::create(
      builder, type, accesses.addBytes(address, bytes), count,
      transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row, shape,
      NVVM::LdStMatrixEltType::B16);
  if (element)
    loaded->setAttr(elementAttr, element);
  program.count();
  if (count == 1)
    return {loaded.getRes()};
  Registers words;
  for (int64_t i = 0; i < count; ++i)
    words.push_back(LLVM::ExtractValueOp::create(builder, loaded.getRes(), i));
  return words;
}

Value Matrices::pack(Value low, Value high) {
  auto type = VectorType::get(2, low.getType());
  Value pair = LLVM::PoisonOp::create(builder, type);
  for (auto [i, value] : {std::pair(0, low), std::pair(1, high)}) {
    Value at = LLVM::ConstantOp::create(builder, builder.getI32Type(),
                                        builder.getI32IntegerAttr(i));
    pair = LLVM::InsertElementOp::create(builder, pair, value, at);
  }
  return LLVM::BitcastOp::create(builder, builder.getI32Type(), pair);
}

bool Matrices::canStore(const Memory &memory, const Layout &layout,
                        ArrayRef<int64_t> shape, RegisterRange range) const {
  const SmallVector<Digit> fragment{
      {1, 2, 2}, {1, 4, 2}, {0, 1, 2}, {0, 2, 2}, {0, 4, 2}};
  bool fits = program.options.storeMatrices && memory.space == 3 &&
              shape.size() == 2 && elementBytes(memory.element) == 2 &&
              layout.lanes == fragment && !layout.registers.empty() &&
              layout.registers.front() == Digit{1, 1, 2} &&
              memory.strides[1] == 1 && memory.strides[0] * 2 % 16 == 0 &&
              memory.alignment % 16 == 0 && range.begin % 2 == 0 &&
              range.end % 2 == 0 && layout.extents(2) == shape;
  for (auto [size, extent] : llvm::zip(memory.sizes, shape))
    fits = fits && getConstantIntValue(size) == extent;
  return fits;
}

/// Returns how far the matrix that begins with one register is from that of
/// another: along which dimension, nothing if along both.
static std::optional<Digit> apart(const Layout &layout, int64_t from,
                                  int64_t to) {
  SmallVector<int64_t> a = layout.registerOffset(from, 2);
  SmallVector<int64_t> b = layout.registerOffset(to, 2);
  if ((a[0] == b[0]) == (a[1] == b[1]))
    return std::nullopt;
  return a[0] == b[0] ? Digit{1, b[1] - a[1], 2} : Digit{0, b[0] - a[0], 2};
}

/// Returns, of the matrices from a register on that one instruction may store,
/// how far the second is from the first and how far the last two are from the
/// first two: two steps for four matrices, one for two, none for one.
static SmallVector<Digit> stepsFrom(const Layout &layout, int64_t begin,
                                    int64_t end) {
  SmallVector<Digit> steps;
  if (begin + 4 > end)
    return steps;
  std::optional<Digit> next = apart(layout, begin, begin + 2);
  if (!next)
    return steps;
  steps.push_back(*next);
  if (begin + 8 > end || !(apart(layout, begin + 4, begin + 6) == next))
    return steps;
  if (std::optional<Digit> half = apart(layout, begin, begin + 4))
    steps.push_back(*half);
  return steps;
}

bool Matrices::store(const Memory &memory, const Layout &layout,
                     ArrayRef<int64_t> shape, const Registers &source,
                     RegisterRange range) {
  if (!canStore(memory, layout, shape, range))
    return false;
  accesses.underCondition(accesses.isOwner(layout), [&] {
    for (int64_t begin = range.begin; begin < range.end;) {
      SmallVector<Digit> steps = stepsFrom(layout, begin, range.end);
      storeFrom(begin, steps, memory, layout, source);
      begin += int64_t(2) << steps.size();
    }
  });
  return true;
}

void Matrices::storeFrom(int64_t begin, ArrayRef<Digit> steps,
                         const Memory &memory, const Layout &layout,
                         const Registers &source) {
  int64_t row = memory.strides[0];
  // Lanes 8 to 15 say where the second matrix is, 16 to 31 where the others
  // are.
  ThreadBits bits{{0, row}, {1, 2 * row}, {2, 4 * row}};
  for (auto [i, digit] : llvm::enumerate(steps))
    bits.push_back({3 + i, digit.stride * memory.strides[digit.dim]});
  for (auto [i, digit] : llvm::enumerate(layout.warps))
    if (!digit.replicated())
      bits.push_back(
          {Layout::laneBits + i, digit.stride * memory.strides[digit.dim]});
  Value own = program.offsetOfBits(bits);
  Value address = accesses.rolledAddress(
      memory,
      accesses.addElements(accesses.start(memory), own, memory.element));
  Registers words;
  for (int64_t i = 0; i < int64_t(1) << steps.size(); ++i)
    words.push_back(pack(source[begin + 2 * i], source[begin + 2 * i + 1]));
  SmallVector<int64_t> first = layout.registerOffset(begin, 2);
  auto store = NVVM::StMatrixOp::create(
      builder, accesses.addressAt(memory, address, first), words,
      NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8),
      NVVM::LdStMatrixEltType::B16);
  // A word has two neighbours.
  SmallVector<Digit> halves{{1, 1, 2}};
  llvm::append_range(halves, steps);
  SmallVector<Digit> threads(layout.lanes);
  llvm::append_range(threads, layout.warps);
  if (DictionaryAttr element =
          descriptions.element(memory, first, threads, {0, 0}, halves))
    store->setAttr(elementAttr, element);
  program.count();
}

} // namespace drawloom::nvptx
