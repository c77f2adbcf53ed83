//===- LossDialect.cpp - the loss dialect ---------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/Inlining.h"
#include "dialects/Loss/Loss.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

#include "dialects/Loss/LossDialect.cpp.inc"

namespace drawloom::loss {

void LossDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Loss/LossOps.cpp.inc"
      >();
  addInterfaces<InlineAnywhere>();
}

} // namespace drawloom::loss
