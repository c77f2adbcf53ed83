//===- Phase.cpp - names of the compiler's phases -------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Phase.h"

namespace drawloom {

static constexpr Phase phases[] = {
    Phase::Input,   Phase::Differentiated, Phase::Structured, Phase::Blocks,
    Phase::Vectors, Phase::Buffers,        Phase::Kernels,    Phase::Llvm,
};

llvm::ArrayRef<Phase> allPhases() { return phases; }

llvm::StringRef phaseName(Phase phase) {
  switch (phase) {
  case Phase::Input:
    return "input";
  case Phase::Differentiated:
    return "differentiated";
  case Phase::Structured:
    return "structured";
  case Phase::Blocks:
    return "blocks";
  case Phase::Vectors:
    return "vectors";
  case Phase::Buffers:
    return "buffers";
  case Phase::Kernels:
    return "kernels";
  case Phase::Llvm:
    return "llvm";
  }
  llvm_unreachable("all phases are listed");
}

llvm::StringRef phaseDescription(Phase phase) {
  switch (phase) {
  case Phase::Input:
    return "as written: graph-level ops and requests for gradients";
  case Phase::Differentiated:
    return "gradients are plain graph-level ops, calls are inlined";
  case Phase::Structured:
    return "domain ops decomposed into linalg, elementwise chains merged";
  case Phase::Blocks:
    return "block programs over tiles, and what runs between them";
  case Phase::Vectors:
    return "register tiles as vectors, no linalg op left";
  case Phase::Buffers:
    return "memory instead of tensors, results are arguments";
  case Phase::Kernels:
    return "a range function for each block program and a host entry";
  case Phase::Llvm:
    return "the llvm dialect";
  }
  llvm_unreachable("all phases are listed");
}

std::optional<Phase> parsePhase(llvm::StringRef name) {
  for (Phase phase : phases)
    if (phaseName(phase) == name)
      return phase;
  return std::nullopt;
}

} // namespace drawloom
