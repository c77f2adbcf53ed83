//===- RegisterCompilerPasses.cpp - passes that compile -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/CompileTarget.h"
#include "lib/Compiler/Phases.h"
#include "lib/Compiler/Targets.h"
#include "lib/RegisterAll.h"
#include "mlir/InitAllPasses.h"
#include "passes/Block/Passes.h"
#include "passes/Differentiate/Passes.h"
#include "passes/Graph/Passes.h"
#include "passes/Memory/Passes.h"
#include "passes/Recurrent/Passes.h"
#include "passes/Relational/Passes.h"

void drawloom::registerCompilerPasses() {
  mlir::registerAllPasses();
  for (const CompileTarget *target : allTargets())
    target->registerPasses();
  registerBlockPasses();
  registerDifferentiatePasses();
  registerGraphPasses();
  registerMemoryPasses();
  registerRecurrentPasses();
  registerRelationalPasses();
  registerPhasePipelines();
}
