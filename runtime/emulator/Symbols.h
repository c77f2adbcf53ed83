//===- Symbols.h - what code of emulated kernels calls ----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The names and signatures of functions that codegen/emulator generates calls
// of. `thread` is the kernel's first argument, `site` the number of a source
// location. Masks are lane masks.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_EMULATOR_SYMBOLS_H
#define DRAWLOOM_RUNTIME_EMULATOR_SYMBOLS_H

#include <cstdint>
#include <utility>
#include <vector>

namespace drawloom::emulator {

enum class SpecialRegister : int32_t {
  ThreadX,
  BlockX,
  BlockY,
  BlockZ,
  GridX,
  GridY,
  GridZ,
  Threads,
  Lane,
  Warp,
  Warps,
  LaneMaskEq,
  LaneMaskLt,
  LaneMaskLe,
  LaneMaskGt,
  LaneMaskGe,
  SharedBytes,
};

enum class Shuffle : int32_t { Butterfly, Up, Down, Index };
enum class Vote : int32_t { Any, All, Ballot, Uniform };
/// The last two reduce floats, with the flags below.
enum class Reduction : int32_t {
  Add,
  And,
  Max,
  Min,
  Or,
  UnsignedMax,
  UnsignedMin,
  Xor,
  FloatMin,
  FloatMax,
};
inline constexpr int32_t reduceAbsolute = 16;
inline constexpr int32_t reduceNan = 32;
enum class BarrierReduction : int32_t { None = -1, Count, And, Or };
enum class Number : int32_t { F16, BF16, TF32 };
/// The address space that an access states; Generic may be any of them.
enum class Space : int32_t { Generic = 0, Global = 1, Shared = 3 };
enum class Scope : int32_t { Block, Device };
enum class Rounding : int32_t { Nearest, Zero, NearestAway };
enum class Function : int32_t {
  Exp2,
  Log2,
  Reciprocal,
  Sqrt,
  ReciprocalSqrt,
  Tanh,
  Sin,
  Cos,
  /// Only flushes subnormal numbers.
  Identity,
};

/// Returns the name and address of each function that generated code may call.
const std::vector<std::pair<const char *, void *>> &runtimeSymbols();

} // namespace drawloom::emulator

#endif // DRAWLOOM_RUNTIME_EMULATOR_SYMBOLS_H
