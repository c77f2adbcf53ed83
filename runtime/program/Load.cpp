//===- Load.cpp - what the library without a compiler can load ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/CpuProgram.h"
#include "drawloom/runtime/CudaProgram.h"
#include "runtime/program/Handles.h"

namespace drawloom::runtime {

Result<std::unique_ptr<Executable>> loadExecutable(const Artifact &artifact,
                                                   const TargetDevice &target,
                                                   const std::string &isa) {
  if (target.name == cuda::targetName)
    return cuda::loadCudaProgram(artifact, isa, target.device);
  if (target.name != "cpu")
    return Status::error("it is for target '" + target.name +
                         "', but this library runs 'cpu' and 'cuda' alone");
  Result<const Artifact::Variant *> variant = chooseVariant(artifact, isa);
  if (!variant.ok())
    return variant.status();
  return loadCpuProgram(**variant);
}

} // namespace drawloom::runtime
