//===- Targets.cpp - the machines that programs are compiled for ----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/Targets.h"
#include "codegen/CompileTarget.h"
#include "codegen/LoadedProgram.h"
#include "codegen/cpu/CpuTarget.h"
#include "codegen/emulator/EmulatorTarget.h"
#include "codegen/nvptx/GpuTarget.h"
#include "drawloom/runtime/CpuProgram.h"
#include "drawloom/runtime/CudaProgram.h"
#include "lib/Compiler/Compiler.h"
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

llvm::Expected<const CompileTarget *> findTarget(llvm::StringRef text) {
  auto parsed = runtime::TargetDevice::parse(text.str());
  if (!parsed.ok())
    return llvm::createStringError(parsed.message());
  if (parsed->device >= 0)
    return &nvptx::cudaTarget(parsed->device);
  llvm::StringRef name = parsed->name;
  std::string known;
  for (const CompileTarget *target : allTargets()) {
    if (target->name() == name)
      return target;
    known += (known.empty() ? "'" : ", '") + target->name().str() + "'";
  }
  return llvm::createStringError("unknown target '" + name +
                                 "'; known: " + known);
}

llvm::Expected<std::unique_ptr<Program>>
loadArtifact(const Artifact &artifact, const runtime::TargetDevice &device,
             llvm::StringRef isa) {
  if (device.name == runtime::cuda::targetName)
    return toProgram(
        runtime::cuda::loadCudaProgram(artifact, isa.str(), device.device));
  llvm::Expected<const CompileTarget *> target = findTarget(device.name);
  if (!target)
    return target.takeError();
  if (*target != &cpu::target())
    return (*target)->load(artifact, isa);
  // By what the code needs of a processor, as the runtime does without us.
  runtime::Result<const Artifact::Variant *> variant =
      runtime::chooseVariant(artifact, isa);
  if (!variant.ok())
    return llvm::createStringError(variant.message());
  return toProgram(runtime::loadCpuProgram(**variant));
}

} // namespace drawloom
