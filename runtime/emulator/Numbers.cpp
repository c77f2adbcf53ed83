//===- Numbers.cpp - approximate functions, conversions, bytes -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The approximate functions give what the exact ones round to: the hardware's
// are up to 2 units in the last place off, in ways that are not documented.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Instructions.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace drawloom::emulator {

static uint32_t bitsOf(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

static float floatOf(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// Subnormal numbers become zeros of their sign.
static float flushed(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}

float emuMath(int32_t function, int32_t flush, float x) {
  if (flush)
    x = flushed(x);
  double wide = x, result = 0;
  switch (static_cast<Function>(function)) {
  case Function::Exp2:
    result = std::exp2(wide);
    break;
  case Function::Log2:
    result = std::log2(wide);
    break;
  case Function::Reciprocal:
    result = 1 / wide;
    break;
  case Function::Sqrt:
    result = std::sqrt(wide);
    break;
  case Function::ReciprocalSqrt:
    result = 1 / std::sqrt(wide);
    break;
  case Function::Tanh:
    result = std::tanh(wide);
    break;
  case Function::Sin:
    result = std::sin(wide);
    break;
  case Function::Cos:
    result = std::cos(wide);
    break;
  case Function::Identity:
    result = wide;
    break;
  }
  auto rounded = static_cast<float>(result);
  return flush ? flushed(rounded) : rounded;
}

int32_t emuPermute(int32_t mode, int32_t low, int32_t high, int32_t selector) {
  uint64_t pool = static_cast<uint32_t>(low) |
                  (static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32);
  auto select = static_cast<uint32_t>(selector);
  uint32_t s = select & 3;
  // Which byte of the pool becomes byte i of the result.
  auto source = [&](uint32_t i) -> uint32_t {
    switch (mode) {
    case 0:
      return (select >> (4 * i)) & 15;
    case 1: // f4e
      return s + i;
    case 2: // b4e
      return (s - i) & 7;
    case 3: // rc8
      return s;
    case 4: // ecl
      return std::max(s, i);
    case 5: // ecr
      return std::min(s, i);
    default: // rc16
      return (s & 1) * 2 + (i & 1);
    }
  };
  uint32_t result = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t from = source(i);
    auto byte = static_cast<uint8_t>(pool >> (8 * (from & 7)));
    if ((from & 8) != 0)
      byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= static_cast<uint32_t>(byte) << (8 * i);
  }
  return static_cast<int32_t>(result);
}

/// Drops the lower `bits` bits.
static uint32_t roundBits(uint32_t value, uint32_t bits, Rounding rounding) {
  uint32_t low = (1u << bits) - 1, half = 1u << (bits - 1);
  switch (rounding) {
  case Rounding::Nearest:
    value += half - 1 + ((value >> bits) & 1);
    break;
  case Rounding::NearestAway:
    value += half;
    break;
  case Rounding::Zero:
    break;
  }
  return value & ~low;
}

static uint32_t toF16(float x, Rounding rounding) {
  auto half = static_cast<_Float16>(x);
  uint16_t bits;
  std::memcpy(&bits, &half, sizeof bits);
  // One step back where the nearest number is further from zero.
  if (rounding == Rounding::Zero &&
      std::fabs(static_cast<float>(half)) > std::fabs(x))
    --bits;
  return bits;
}

int32_t emuConvert(int32_t number, int32_t rounding, int32_t flags, float x) {
  auto kind = static_cast<Number>(number);
  auto mode = static_cast<Rounding>(rounding);
  bool relu = (flags & 1) != 0, finite = (flags & 2) != 0;
  if (x != x)
    return kind == Number::TF32 ? 0x7fffffff : 0x7fff;
  if (relu && (bitsOf(x) >> 31) != 0)
    return 0;
  uint32_t sign = bitsOf(x) & 0x80000000u, result = 0;
  // Of the target, without the sign.
  uint32_t infinity = 0;
  switch (kind) {
  case Number::F16:
    result = toF16(x, mode) & 0x7fff;
    infinity = 0x7c00;
    break;
  case Number::BF16:
    result = roundBits(bitsOf(x) & 0x7fffffff, 16, mode) >> 16;
    infinity = 0x7f80;
    break;
  case Number::TF32:
    result = roundBits(bitsOf(x) & 0x7fffffff, 13, mode);
    infinity = 0x7f800000;
    break;
  }
  if (finite && result >= infinity)
    result = kind == Number::TF32 ? infinity - 0x2000 : infinity - 1;
  return static_cast<int32_t>(result |
                              (kind == Number::TF32 ? sign : sign >> 16));
}

int32_t emuConvertPair(int32_t number, int32_t rounding, int32_t flags,
                       float high, float low) {
  auto upper = static_cast<uint32_t>(emuConvert(number, rounding, flags, high));
  auto lower = static_cast<uint32_t>(emuConvert(number, rounding, flags, low));
  return static_cast<int32_t>(upper << 16 | lower);
}

/// What LLVM calls to round to bf16, which it returns in the lower half of a
/// vector register, as it does a float.
static float truncateToBf16(float x) {
  return floatOf(static_cast<uint32_t>(
      emuConvert(static_cast<int32_t>(Number::BF16),
                 static_cast<int32_t>(Rounding::Nearest), 0, x)));
}

static float truncateDoubleToBf16(double x) {
  // To odd first: rounding twice to nearest would not be right.
  auto narrow = static_cast<float>(x);
  uint32_t bits = bitsOf(narrow);
  if (static_cast<double>(narrow) != x && narrow == narrow) {
    if (std::fabs(static_cast<double>(narrow)) > std::fabs(x))
      --bits;
    bits |= 1;
  }
  return truncateToBf16(floatOf(bits));
}

const std::vector<std::pair<const char *, void *>> &runtimeSymbols() {
  static const std::vector<std::pair<const char *, void *>> symbols = {
#define DRAWLOOM_SYMBOL(name) {#name, reinterpret_cast<void *>(name)}
      DRAWLOOM_SYMBOL(emuRegister),
      DRAWLOOM_SYMBOL(emuArena),
      DRAWLOOM_SYMBOL(emuAccess),
      DRAWLOOM_SYMBOL(emuElement),
      DRAWLOOM_SYMBOL(emuMatrixElement),
      DRAWLOOM_SYMBOL(emuFence),
      DRAWLOOM_SYMBOL(emuBarrier),
      DRAWLOOM_SYMBOL(emuBarrierArrive),
      DRAWLOOM_SYMBOL(emuWarpBarrier),
      DRAWLOOM_SYMBOL(emuShuffle),
      DRAWLOOM_SYMBOL(emuVote),
      DRAWLOOM_SYMBOL(emuReduce),
      DRAWLOOM_SYMBOL(emuMatch),
      DRAWLOOM_SYMBOL(emuElect),
      DRAWLOOM_SYMBOL(emuCopyAsync),
      DRAWLOOM_SYMBOL(emuCopyCommit),
      DRAWLOOM_SYMBOL(emuCopyWait),
      DRAWLOOM_SYMBOL(emuLoadMatrix),
      DRAWLOOM_SYMBOL(emuStoreMatrix),
      DRAWLOOM_SYMBOL(emuMultiply),
      DRAWLOOM_SYMBOL(emuMath),
      DRAWLOOM_SYMBOL(emuPermute),
      DRAWLOOM_SYMBOL(emuConvert),
      DRAWLOOM_SYMBOL(emuConvertPair),
#undef DRAWLOOM_SYMBOL
      {"__truncsfbf2", reinterpret_cast<void *>(truncateToBf16)},
      {"__truncdfbf2", reinterpret_cast<void *>(truncateDoubleToBf16)},
  };
  return symbols;
}

} // namespace drawloom::emulator
