//===- BlockDialect.cpp - the block dialect -------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Block/Block.h"
#include "dialects/Interfaces/Inlining.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

#include "dialects/Block/BlockDialect.cpp.inc"

#include "dialects/Block/BlockEnums.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/Block/BlockOps.cpp.inc"

namespace drawloom::block {

void BlockDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Block/BlockOps.cpp.inc"
      >();
  addInterfaces<InlineAnywhere>();
}

} // namespace drawloom::block
