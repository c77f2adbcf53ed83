//===- Checksum.cpp - CRC32C of bytes -------------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes are the coefficients of a polynomial over two elements, and their CRC
// is what is left of it modulo `polynomial`. Bits are reflected: the lowest bit
// of a word is the coefficient of the highest power.
//
// The processor's instruction gives a result every cycle, but only three cycles
// after it began. So three parts of a block are summed side by side; a sum
// times a power of x is what it becomes behind as many bytes of zeros, and
// sums of parts that were moved so add up to that of the block.
//
//===----------------------------------------------------------------------===//

#include "runtime/offload/Checksum.h"
#include <algorithm>
#include <array>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace drawloom::runtime::offload {

namespace {

/// Reflected, without the coefficient of x^32.
constexpr uint32_t polynomial = 0x82f63b78;

/// A remainder times x.
constexpr uint32_t timesX(uint32_t value) {
  return value >> 1 ^ (value & 1 ? polynomial : 0);
}

/// tables[k][b]: what byte b becomes in front of k bytes of zeros.
constexpr auto makeTables() {
  std::array<std::array<uint32_t, 256>, 8> tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit)
      value = timesX(value);
    tables[0][byte] = value;
  }
  for (size_t k = 1; k < 8; ++k)
    for (uint32_t byte = 0; byte < 256; ++byte) {
      uint32_t value = tables[k - 1][byte];
      tables[k][byte] = value >> 8 ^ tables[0][value & 0xff];
    }
  return tables;
}
constexpr auto tables = makeTables();

/// Four bytes, the first one the lowest on every processor.
uint32_t lowestFirst(const unsigned char *bytes) {
  return bytes[0] | uint32_t(bytes[1]) << 8 | uint32_t(bytes[2]) << 16 |
         uint32_t(bytes[3]) << 24;
}

/// Takes a state on, without the inversions at both ends of a CRC32C.
uint32_t byTable(uint32_t state, const unsigned char *bytes, size_t count) {
  for (; count >= 8; bytes += 8, count -= 8) {
    uint32_t first = state ^ lowestFirst(bytes), last = lowestFirst(bytes + 4);
    state = tables[7][first & 0xff] ^ tables[6][first >> 8 & 0xff] ^
            tables[5][first >> 16 & 0xff] ^ tables[4][first >> 24] ^
            tables[3][last & 0xff] ^ tables[2][last >> 8 & 0xff] ^
            tables[1][last >> 16 & 0xff] ^ tables[0][last >> 24];
  }
  for (; count > 0; ++bytes, --count)
    state = state >> 8 ^ tables[0][(state ^ *bytes) & 0xff];
  return state;
}

#if defined(__x86_64__)
#define DRAWLOOM_WITH_CRC __attribute__((target("sse4.2,pclmul")))

/// x to a power, as a remainder.
constexpr uint32_t powerOfX(unsigned power) {
  uint32_t value = uint32_t(1) << 31;
  for (unsigned i = 0; i < power; ++i)
    value = timesX(value);
  return value;
}

uint64_t wordAt(const unsigned char *bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

/// A state moved in front of `bytes` bytes of zeros. The product of two
/// reflected remainders comes out times x, and the instruction of the CRC
/// multiplies by x^32 as it reduces: 33 powers less are in the factor.
template <unsigned bytes> DRAWLOOM_WITH_CRC uint64_t moved(uint64_t state) {
  static constexpr uint32_t factor = powerOfX(8 * bytes - 33);
  __m128i product =
      _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<int64_t>(state)),
                           _mm_cvtsi32_si128(static_cast<int>(factor)), 0);
  return _mm_crc32_u64(0, static_cast<uint64_t>(_mm_cvtsi128_si64(product)));
}

/// Copies a line past the caches.
inline void copyLine(unsigned char *to, const unsigned char *from) {
  for (int i = 0; i < 64; i += 16)
    _mm_stream_si128(
        reinterpret_cast<__m128i *>(to + i),
        _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + i)));
}

/// Takes a state over blocks of three parts, as many as there are, and copies
/// them where that is wanted: to where lines begin.
template <unsigned part, bool copies>
DRAWLOOM_WITH_CRC uint64_t byParts(uint64_t state, const unsigned char *&bytes,
                                   size_t &count, unsigned char *to = nullptr) {
  for (; count >= 3 * part; bytes += 3 * part, count -= 3 * part) {
    uint64_t second = 0, third = 0;
    for (unsigned line = 0; line < part; line += 64) {
      const unsigned char *at = bytes + line;
      for (unsigned i = 0; i < 64; i += 8) {
        state = _mm_crc32_u64(state, wordAt(at + i));
        second = _mm_crc32_u64(second, wordAt(at + part + i));
        third = _mm_crc32_u64(third, wordAt(at + 2 * part + i));
      }
      if constexpr (copies)
        for (unsigned i = 0; i < 3 * part; i += part)
          copyLine(to + line + i, at + i);
    }
    if constexpr (copies)
      to += 3 * part;
    state = moved<2 * part>(state) ^ moved<part>(second) ^ third;
  }
  return state;
}

/// So long that the three parts are read from memory as three streams, each in
/// pages of its own.
constexpr unsigned longPart = 4096;

DRAWLOOM_WITH_CRC uint32_t byInstruction(uint32_t start,
                                         const unsigned char *bytes,
                                         size_t count) {
  uint64_t state = start;
  state = byParts<longPart, false>(state, bytes, count);
  state = byParts<128, false>(state, bytes, count);
  for (; count >= 8; bytes += 8, count -= 8)
    state = _mm_crc32_u64(state, wordAt(bytes));
  for (; count > 0; ++bytes, --count)
    state = _mm_crc32_u8(static_cast<uint32_t>(state), *bytes);
  return static_cast<uint32_t>(state);
}
#endif

bool hasInstruction() {
#if defined(__x86_64__)
  static const bool has =
      __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
  return has;
#else
  return false;
#endif
}

uint32_t sum(uint32_t state, const unsigned char *bytes, size_t count) {
#if defined(__x86_64__)
  if (hasInstruction())
    return byInstruction(state, bytes, count);
#endif
  return byTable(state, bytes, count);
}

} // namespace

uint32_t crc32c(const void *bytes, size_t count, uint32_t before) {
  return ~sum(~before, static_cast<const unsigned char *>(bytes), count);
}

uint32_t crc32cByTable(const void *bytes, size_t count, uint32_t before) {
  return ~byTable(~before, static_cast<const unsigned char *>(bytes), count);
}

uint32_t copyWithCrc32c(void *to, const void *from, size_t count,
                        uint32_t before) {
  auto *target = static_cast<unsigned char *>(to);
  auto *source = static_cast<const unsigned char *>(from);
  uint32_t state = ~before;
#if defined(__x86_64__)
  // Fewer bytes may well be read again from caches.
  constexpr size_t many = size_t(256) << 10;
  if (count >= many && hasInstruction()) {
    // What the C library gives begins 16 bytes behind a line.
    size_t head = -reinterpret_cast<uintptr_t>(to) % 64;
    state = sum(state, source, head);
    std::memcpy(target, source, head);
    target += head, source += head, count -= head;
    size_t whole = count;
    state = static_cast<uint32_t>(
        byParts<longPart, true>(state, source, count, target));
    target += whole - count;
    // Whoever is told that the copy is done sees it.
    _mm_sfence();
  }
#endif
  // The copy finds in the first cache what the sum has read.
  for (size_t now; count > 0; target += now, source += now, count -= now) {
    now = std::min<size_t>(count, 4096);
    state = sum(state, source, now);
    std::memcpy(target, source, now);
  }
  return ~state;
}

} // namespace drawloom::runtime::offload
