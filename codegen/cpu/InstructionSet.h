//===- InstructionSet.h - instruction sets of x86 as data ----- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_INSTRUCTIONSET_H
#define DRAWLOOM_CODEGEN_CPU_INSTRUCTIONSET_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace drawloom::cpu {

/// How products of bf16 are computed.
enum class PairUnit {
  /// Converted to f32 first.
  None,
  /// By instructions that multiply pairs of vectors' lanes.
  Vectors,
  /// By AMX, on registers that hold tiles.
  Tiles,
  /// As by AMX, but its operations are replaced by vector arithmetic: so its
  /// code can be tried where no processor has it.
  ReplacedTiles,
};

/// What a schedule has to know of an instruction set, and the register tiles
/// that go with it. Extents count 32-bit elements; wider types use fewer.
struct InstructionSet {
  llvm::StringRef name;
  /// LLVM's name of the processor that has just this set, and what it has
  /// besides.
  llvm::StringRef processor;
  llvm::StringRef extras;
  int64_t vectorBytes;
  int64_t registers;
  /// Rows and columns of the accumulator tile of a dot, steps of its inner
  /// loop per iteration, elements per step of an elementwise loop.
  int64_t dotRows, dotColumns, dotSteps, width;
  /// Features of the host that must be there to run it.
  llvm::ArrayRef<llvm::StringRef> features;
  PairUnit pairUnit = PairUnit::None;
  /// Of a product of bf16: rows and columns of its accumulators, and steps of
  /// two along its inner dimension.
  int64_t pairRows = 0, pairColumns = 0, pairSteps = 0;
};

/// The narrowest first.
llvm::ArrayRef<InstructionSet> instructionSets();

/// Whether the set is for tests only: neither native nor part of a list of all.
inline bool isForTests(const InstructionSet &set) {
  return set.pairUnit == PairUnit::ReplacedTiles;
}

/// The set of that name; "native" is the widest that this machine runs. Names
/// the known ones in its error.
llvm::Expected<const InstructionSet *> findInstructionSet(llvm::StringRef name);

/// Succeeds when this machine can execute the set; the error names the missing
/// feature.
llvm::Error checkHostRuns(const InstructionSet &set);

/// What code generation is told about the processor.
struct TargetDescription {
  std::string processor;
  std::string features;
};
/// The description for a set by name; "native" uses this machine's model, so
/// that its instruction timings count.
llvm::Expected<TargetDescription> describeTarget(llvm::StringRef name);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_INSTRUCTIONSET_H
