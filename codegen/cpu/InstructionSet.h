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
  /// In f32, after conversion.
  None,
  /// By vector instructions that multiply pairs of lanes.
  Vectors,
  /// By AMX, on tile registers.
  Tiles,
  /// Like AMX, but with its operations replaced by vector arithmetic, so that
  /// the code can be tested on processors without AMX.
  ReplacedTiles,
};

/// Properties of an instruction set that schedules depend on, and the register
/// tiles that suit it. Extents count 32-bit elements; wider types use fewer.
struct InstructionSet {
  llvm::StringRef name;
  /// LLVM's name of the processor with exactly this set, and additional
  /// features.
  llvm::StringRef processor;
  llvm::StringRef extras;
  int64_t vectorBytes;
  int64_t registers;
  /// Rows and columns of a dot's accumulator tile, contraction steps per loop
  /// iteration, and elements per iteration of an elementwise loop.
  int64_t dotRows, dotColumns, dotSteps, width;
  /// Features that the host must have to run the set.
  llvm::ArrayRef<llvm::StringRef> features;
  PairUnit pairUnit = PairUnit::None;
  /// For products of bf16: rows and columns of the accumulator tile, and steps
  /// of two along the contraction dimension.
  int64_t pairRows = 0, pairColumns = 0, pairSteps = 0;
};

/// Returns all sets, narrowest first.
llvm::ArrayRef<InstructionSet> instructionSets();

/// Returns whether the set is for tests only: it is neither native nor part of
/// "all".
inline bool isForTests(const InstructionSet &set) {
  return set.pairUnit == PairUnit::ReplacedTiles;
}

/// Finds a set by name; "native" is the widest one that this machine runs. On
/// failure, the error lists the known sets.
llvm::Expected<const InstructionSet *> findInstructionSet(llvm::StringRef name);

/// Succeeds if this machine can execute the set; the error names the missing
/// feature.
llvm::Error checkHostRuns(const InstructionSet &set);

/// Describes the processor for code generation.
struct TargetDescription {
  std::string processor;
  std::string features;
};
/// Returns the description for a set by name; "native" uses this machine's
/// processor model, and thus its instruction timings.
llvm::Expected<TargetDescription> describeTarget(llvm::StringRef name);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_INSTRUCTIONSET_H
