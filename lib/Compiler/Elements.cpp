//===- Elements.cpp - elements of values in memory ------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/Elements.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace drawloom {

bool isFloatType(ElementType element) {
  return is_contained(
      {ElementType::F64, ElementType::F32, ElementType::BF16, ElementType::F16},
      element);
}

static const fltSemantics &semanticsOf(ElementType element) {
  return element == ElementType::F16 ? APFloat::IEEEhalf() : APFloat::BFloat();
}

template <typename T> static T read(const char *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}
template <typename T> static void write(char *at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

double readFloat(ElementType element, const char *at) {
  if (element == ElementType::F64)
    return read<double>(at);
  if (element == ElementType::F32)
    return read<float>(at);
  return APFloat(semanticsOf(element), APInt(16, read<uint16_t>(at)))
      .convertToDouble();
}

int64_t readInteger(ElementType element, const char *at) {
  if (element == ElementType::I64)
    return read<int64_t>(at);
  if (element == ElementType::I32)
    return read<int32_t>(at);
  if (element == ElementType::I8)
    return read<int8_t>(at);
  return read<uint8_t>(at) != 0;
}

void writeFloat(ElementType element, char *at, double value) {
  if (element == ElementType::F64)
    return write<double>(at, value);
  if (element == ElementType::F32)
    return write<float>(at, static_cast<float>(value));
  APFloat rounded(value);
  bool lost;
  rounded.convert(semanticsOf(element), APFloat::rmNearestTiesToEven, &lost);
  write<uint16_t>(at, rounded.bitcastToAPInt().getZExtValue());
}

void writeInteger(ElementType element, char *at, int64_t value) {
  if (element == ElementType::I64)
    return write<int64_t>(at, value);
  if (element == ElementType::I32)
    return write<int32_t>(at, static_cast<int32_t>(value));
  if (element == ElementType::I8)
    return write<int8_t>(at, static_cast<int8_t>(value));
  write<uint8_t>(at, value & 1);
}

/// SplitMix64 (Steele, Lea, Flood, 2014): the i-th value of a stream needs none
/// of those before it.
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

void fillRandom(const ValueType &type, char *at, uint64_t seed, uint64_t stream,
                int64_t low, int64_t high) {
  int64_t width = elementBytes(type.element), count = type.elements();
  uint64_t start = mix(mix(seed) ^ (stream * 0x2545f4914f6cdd1d));
  for (int64_t i = 0; i < count; ++i, at += width) {
    uint64_t bits = mix(start + i);
    if (isFloatType(type.element))
      writeFloat(type.element, at,
                 std::ldexp(static_cast<double>(bits >> 11), -52) - 1);
    else
      writeInteger(
          type.element, at,
          low + static_cast<int64_t>(bits % static_cast<uint64_t>(high - low)));
  }
}

} // namespace drawloom
