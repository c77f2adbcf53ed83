//===- DescribeAccess.cpp - which element an access is of -----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/lower/DescribeAccess.h"
#include "codegen/nvptx/Passes.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <numeric>

using namespace mlir;
using drawloom::tile::Digit;
using drawloom::tile::Layout;

namespace drawloom::nvptx {

SmallVector<Digit> DescribeAccess::threadDigits(const Layout &layout,
                                                int64_t first) {
  SmallVector<Digit> digits(layout.lanes);
  llvm::append_range(digits, layout.warps);
  for (Digit &digit : digits)
    if (digit.dim < first)
      digit = Digit();
  return digits;
}

DictionaryAttr DescribeAccess::element(const Memory &memory,
                                       ArrayRef<int64_t> coordinates,
                                       ArrayRef<Digit> threads, Moving moving,
                                       ArrayRef<Digit> registers) {
  // Where a loop over registers is, the attribute cannot say.
  if (!program.options.describeAccesses || program.rolled.dim >= 0)
    return {};
  int64_t bytes = elementBytes(memory.element);
  SmallVector<int64_t> sizes, strides;
  // Where the last element of the view is, from its first one on.
  int64_t last = 0;
  for (auto [size, stride] : llvm::zip(memory.sizes, memory.strides)) {
    sizes.push_back(getConstantIntValue(size).value_or(-1));
    strides.push_back(stride * bytes);
    if (sizes.back() > 0)
      last += (sizes.back() - 1) * strides.back();
  }
  int64_t limit = moving.range;
  if (memory.step != 0)
    limit += memory.bytes - memory.fixed - last - bytes;
  auto flat = [&](ArrayRef<Digit> digits) {
    SmallVector<int64_t> numbers;
    for (const Digit &digit : digits)
      numbers.append({digit.dim, digit.stride});
    return program.builder.getDenseI64ArrayAttr(numbers);
  };
  SmallVector<NamedAttribute> parts;
  auto add = [&](StringRef name, DenseI64ArrayAttr numbers) {
    parts.push_back(program.builder.getNamedAttr(name, numbers));
  };
  add("at", program.builder.getDenseI64ArrayAttr(coordinates));
  add("buffer",
      program.builder.getDenseI64ArrayAttr({memory.start, memory.bytes}));
  add("moves", program.builder.getDenseI64ArrayAttr(
                   {memory.fixed, std::gcd(memory.step, moving.step), limit}));
  if (!registers.empty())
    add("registers", flat(registers));
  add("sizes", program.builder.getDenseI64ArrayAttr(sizes));
  add("strides", program.builder.getDenseI64ArrayAttr(strides));
  add("threads", flat(threads));
  return program.builder.getDictionaryAttr(parts);
}

DictionaryAttr DescribeAccess::row(const Memory &memory, const Layout &layout,
                                   const Access &access) {
  Memory rows = memory;
  int64_t stride = memory.strides[0] * elementBytes(memory.element);
  std::optional<int64_t> count = getConstantIntValue(memory.sizes[0]);
  Moving moving{stride, count ? std::max<int64_t>(*count - 1, 0) * stride
                              : memory.bytes};
  // The index counts along the first dimension, and may say that there is no
  // row: an extent that is not known by number.
  rows.sizes[0] = program.thread;
  SmallVector<int64_t> at(access.coordinates);
  at[0] = 0;
  return element(rows, at, threadDigits(layout, 1), moving);
}

DictionaryAttr
DescribeAccess::fragment(const Memory &memory, int64_t across, int64_t first,
                         int64_t step, const Layout &sums, int64_t own,
                         ArrayRef<std::pair<int64_t, int64_t>> registers,
                         Batch batch) {
  int64_t along = 1 - across;
  SmallVector<Digit> threads{
      {along, 2}, {along, 4}, {across, 1}, {across, 2}, {across, 4}};
  for (const Digit &digit : sums.warps)
    if (int64_t part = batch.partOf(digit))
      threads.push_back({0, part});
    else
      threads.push_back(digit.dim == own ? Digit{across, digit.stride}
                                         : Digit());
  SmallVector<Digit> words;
  for (auto [dim, stride] : registers)
    words.push_back({dim, stride});
  SmallVector<int64_t> at(2);
  at[across] = first;
  at[along] = step;
  return element(memory, at, threads, {0, 0}, words);
}

DictionaryAttr DescribeAccess::any(const Memory &memory) {
  Memory start = memory;
  start.strides.clear();
  start.sizes.clear();
  return element(start, {}, {}, {elementBytes(memory.element), memory.bytes});
}

} // namespace drawloom::nvptx
