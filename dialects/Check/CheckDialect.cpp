//===- CheckDialect.cpp - the check dialect
//-----------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Check/Check.h"

using namespace mlir;

#include "dialects/Check/CheckDialect.cpp.inc"

namespace drawloom::check {

void CheckDialect::initialize() {}

} // namespace drawloom::check
