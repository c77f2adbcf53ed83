//===- LossDialect.cpp - the loss dialect
//-----------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Loss/Loss.h"

using namespace mlir;

#include "dialects/Loss/LossDialect.cpp.inc"

namespace drawloom::loss {

void LossDialect::initialize() {}

} // namespace drawloom::loss
