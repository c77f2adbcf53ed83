//===- OptDialect.cpp - the opt dialect -----------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Opt/Opt.h"

using namespace mlir;

#include "dialects/Opt/OptDialect.cpp.inc"

namespace drawloom::opt {

void OptDialect::initialize() {}

} // namespace drawloom::opt
