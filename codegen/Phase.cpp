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
    Phase::Input, Phase::Differentiated, Phase::Structured, Phase::Blocks,
    Phase::Tiles, Phase::Memory,         Phase::Kernels,    Phase::Llvm,
};

llvm::ArrayRef<Phase> allPhases() { return phases; }

PhaseText commonPhaseText(Phase phase) {
  switch (phase) {
  case Phase::Input:
    return {"input", "as written: graph-level ops and requests for gradients"};
  case Phase::Differentiated:
    return {"differentiated",
            "gradients are plain graph-level ops, calls are inlined"};
  case Phase::Structured:
    return {"structured",
            "domain ops decomposed into linalg, elementwise chains merged"};
  case Phase::Blocks:
    return {"blocks", "block programs over tiles, and what runs between them"};
  case Phase::Llvm:
    return {"llvm", "the llvm dialect"};
  case Phase::Tiles:
    return {"tiles", "values in registers, no linalg op left"};
  case Phase::Memory:
    return {"memory", "every value has its place"};
  case Phase::Kernels:
    return {"kernels", "functions that are launched"};
  }
  llvm_unreachable("all phases are listed");
}

} // namespace drawloom
