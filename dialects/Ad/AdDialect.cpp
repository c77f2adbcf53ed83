//===- AdDialect.cpp - the ad dialect -------------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Ad/Ad.h"
#include "dialects/Interfaces/Inlining.h"

using namespace mlir;

#include "dialects/Ad/AdDialect.cpp.inc"

namespace drawloom::ad {

void AdDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Ad/AdOps.cpp.inc"
      >();
  addInterfaces<InlineAnywhere>();
}

} // namespace drawloom::ad
