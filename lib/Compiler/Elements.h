//===- Elements.h - elements of values in memory -------------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_COMPILER_ELEMENTS_H
#define DRAWLOOM_LIB_COMPILER_ELEMENTS_H

#include "drawloom/runtime/Artifact.h"

namespace drawloom {

bool isFloatType(ElementType element);

/// Read the element at an address that need not be aligned: readFloat() for
/// float types, readInteger() for all other types.
double readFloat(ElementType element, const char *at);
int64_t readInteger(ElementType element, const char *at);
/// Rounds to the nearest value, ties to even. The integer version drops the
/// upper bits.
void writeFloat(ElementType element, char *at, double value);
void writeInteger(ElementType element, char *at, int64_t value);

/// Fills the memory of a value with random numbers, uniform in [-1, 1) for
/// floats and in [low, high) for integers. A seed gives the same values on any
/// machine; `stream` distinguishes arguments.
void fillRandom(const ValueType &type, char *at, uint64_t seed, uint64_t stream,
                int64_t low, int64_t high);

} // namespace drawloom

#endif // DRAWLOOM_LIB_COMPILER_ELEMENTS_H
