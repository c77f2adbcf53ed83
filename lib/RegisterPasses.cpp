//===- RegisterPasses.cpp - every pass, for tools that take pipelines -----===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Passes.h"
#include "lib/RegisterAll.h"

void drawloom::registerAllPasses() {
  registerCompilerPasses();
  registerInterpreterPasses();
}
