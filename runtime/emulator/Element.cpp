//===- Element.cpp - which element an access is meant to be of ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Element.h"
#include "runtime/emulator/Machine.h"

namespace drawloom::emulator {

static std::string list(const int64_t *numbers, size_t count) {
  std::string text = "(";
  for (size_t i = 0; i < count; ++i) {
    text += i ? ", " : "";
    text += numbers[i] < 0 ? "?" : std::to_string(numbers[i]);
  }
  return text + ")";
}

std::string Element::check(uint32_t thread, uint32_t reg, int64_t offset,
                           int64_t width) const {
  constexpr size_t mostRank = 16;
  size_t rank = at.size();
  int64_t place[mostRank];
  if (rank > mostRank || sizes.size() != rank || strides.size() != rank)
    return "what it says of its element makes no sense";
  std::copy(at.begin(), at.end(), place);
  auto add = [&](const std::vector<Digit> &digits, uint32_t number) {
    for (; number != 0; number &= number - 1) {
      auto i = static_cast<size_t>(__builtin_ctz(number));
      if (i >= digits.size())
        return;
      if (digits[i].dim >= 0 && digits[i].dim < static_cast<int64_t>(rank))
        place[digits[i].dim] += digits[i].stride;
    }
  };
  add(threads, thread);
  add(registers, reg);
  int64_t expected = fixed;
  bool outside = false, known = true;
  for (size_t i = 0; i < rank; ++i) {
    expected += place[i] * strides[i];
    known &= sizes[i] >= 0;
    outside |= sizes[i] >= 0 && place[i] >= sizes[i];
  }
  offset -= start;
  if (offset < 0 || offset + width > bytes)
    return "byte " + std::to_string(offset) + " of a buffer of " +
           std::to_string(bytes) + " bytes";
  auto begins = [&](int64_t moved) {
    return step == 0 ? moved == 0
                     : moved >= 0 && moved <= limit && moved % step == 0;
  };
  if (elsewhere && (outside || !known) &&
      (offset == 0 || begins(offset - fixed)))
    return "";
  if (outside)
    return "element " + list(place, rank) + " of a view of extents " +
           list(sizes.data(), rank);
  if (begins(offset - expected))
    return "";
  return "byte " + std::to_string(offset) + " of a buffer, but element " +
         list(place, rank) + " is at byte " + std::to_string(expected) +
         (step == 0 ? ""
                    : " plus a multiple of " + std::to_string(step) +
                          " up to " + std::to_string(limit));
}

void checkElement(Thread &thread, const char *address, const char *root,
                  int64_t width, int32_t element, uint32_t reg, int32_t site) {
  Block &block = *thread.block;
  const Element &meant =
      (*block.launch.kernel->elements)[static_cast<size_t>(element)];
  std::string wrong = meant.check(thread.index, reg, address - root, width);
  if (wrong.empty())
    return;
  block.report(FindingKind::WrongElement, thread, site, site,
               block.nameOf(thread.index) + " accesses " + wrong + " (" +
                   block.launch.where(site) + ")");
}

} // namespace drawloom::emulator
