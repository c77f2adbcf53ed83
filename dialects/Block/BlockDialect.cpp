//===- BlockDialect.cpp - the block dialect
//-----------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Block/Block.h"

using namespace mlir;

#include "dialects/Block/BlockDialect.cpp.inc"

namespace drawloom::block {

void BlockDialect::initialize() {}

} // namespace drawloom::block
