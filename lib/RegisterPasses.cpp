//===- RegisterPasses.cpp - every pass, for tools that take pipelines -----===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/CompileTarget.h"
#include "lib/Compiler/Phases.h"
#include "lib/Compiler/Targets.h"
#include "lib/Interpreter/Passes.h"
#include "lib/RegisterAll.h"
#include "passes/Block/Passes.h"
#include "passes/Differentiate/Passes.h"
#include "passes/Graph/Passes.h"
#include "passes/Memory/Passes.h"
#include "passes/Recurrent/Passes.h"
#include "passes/Relational/Passes.h"

namespace drawloom {

void registerAllPasses() {
  for (const CompileTarget *target : allTargets())
    target->registerPasses();
  registerBlockPasses();
  registerDifferentiatePasses();
  registerGraphPasses();
  registerMemoryPasses();
  registerRecurrentPasses();
  registerRelationalPasses();
  registerInterpreterPasses();
  registerPhasePipelines();
}

} // namespace drawloom
