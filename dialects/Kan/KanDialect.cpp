//===- KanDialect.cpp - the kan dialect -----------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Kan/Kan.h"

using namespace mlir;

#include "dialects/Kan/KanDialect.cpp.inc"

namespace drawloom::kan {

void KanDialect::initialize() {}

} // namespace drawloom::kan
