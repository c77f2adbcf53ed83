//===- KanDialect.cpp - the kan dialect -----------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/Inlining.h"
#include "dialects/Kan/Kan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

#include "dialects/Kan/KanDialect.cpp.inc"
#include "dialects/Kan/KanEnums.cpp.inc"

namespace drawloom::kan {

void KanDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Kan/KanOps.cpp.inc"
      >();
  addInterfaces<InlineAnywhere>();
}

} // namespace drawloom::kan
