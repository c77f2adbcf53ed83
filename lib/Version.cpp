//===- Version.cpp - which Drawloom this is -------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Version.h"
#include "llvm/Config/llvm-config.h"

void drawloom::printVersion(llvm::raw_ostream &stream) {
  stream << "Drawloom " DRAWLOOM_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
}
