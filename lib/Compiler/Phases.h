//===- Phases.h - the passes that lead into each phase ----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_COMPILER_PHASES_H
#define DRAWLOOM_LIB_COMPILER_PHASES_H

#include "codegen/CompileTarget.h"

namespace drawloom {

/// Adds the passes that lead from the phase before `phase` to `phase`.
void buildPhase(mlir::OpPassManager &pm, Phase phase,
                const CompileTarget &target, const CodegenOptions &options,
                const MachineFacts &machine);

/// Registers each phase as the pipeline `phase-NAME`, so that tools can run it
/// and print it as text.
void registerPhasePipelines();

} // namespace drawloom

#endif // DRAWLOOM_LIB_COMPILER_PHASES_H
