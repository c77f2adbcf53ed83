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

/// What a schedule has to know of an instruction set, and the register tiles
/// that go with it. Extents count 32-bit elements; wider types use fewer.
struct InstructionSet {
  llvm::StringRef name;
  /// LLVM's name of the processor that has just this set.
  llvm::StringRef processor;
  int64_t vectorBytes;
  int64_t registers;
  /// Rows and columns of the accumulator tile of a dot, steps of its inner
  /// loop per iteration, elements per step of an elementwise loop.
  int64_t dotRows, dotColumns, dotSteps, width;
  /// Features of the host that must be there to run it.
  llvm::ArrayRef<llvm::StringRef> features;
};

/// The narrowest first.
llvm::ArrayRef<InstructionSet> instructionSets();

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
