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

/// The element at an address that need not be aligned: of a float type, of any
/// other one.
double readFloat(ElementType element, const char *at);
int64_t readInteger(ElementType element, const char *at);
/// Rounds to the nearest, ties to even; drops the upper bits of an integer.
void writeFloat(ElementType element, char *at, double value);
void writeInteger(ElementType element, char *at, int64_t value);

/// Fills the memory of a value: uniform in [-1, 1) for floats and in [low,
/// high) for integers. The same values for a seed on any machine; `stream`
/// tells arguments apart.
void fillRandom(const ValueType &type, char *at, uint64_t seed, uint64_t stream,
                int64_t low, int64_t high);

} // namespace drawloom

#endif // DRAWLOOM_LIB_COMPILER_ELEMENTS_H
