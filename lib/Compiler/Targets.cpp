//===- Targets.cpp - the machines that programs are compiled for ----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/Targets.h"
#include "codegen/CompileTarget.h"
#include "codegen/cpu/CpuTarget.h"
#include "codegen/emulator/EmulatorTarget.h"
#include "codegen/nvptx/GpuTarget.h"
#include "llvm/ADT/StringExtras.h"

namespace drawloom {

llvm::ArrayRef<const CompileTarget *> allTargets() {
  static const CompileTarget *const targets[] = {
      &cpu::target(), &nvptx::cudaTarget(), &emulator::target()};
  return targets;
}

std::string instructionSetHelp(const CompileTarget &target) {
  std::vector<std::string> names = target.instructionSets();
  llvm::erase_if(names,
                 [&](llvm::StringRef set) { return target.isForTests(set); });
  return "Instruction set: " + llvm::join(names, ", ") + " (default: native)";
}

llvm::Expected<const CompileTarget *> findTarget(llvm::StringRef name) {
  std::string known;
  for (const CompileTarget *target : allTargets()) {
    if (target->name() == name)
      return target;
    known += (known.empty() ? "'" : ", '") + target->name().str() + "'";
  }
  return llvm::createStringError("unknown target '" + name +
                                 "'; known: " + known);
}

} // namespace drawloom
