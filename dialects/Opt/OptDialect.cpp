//===- OptDialect.cpp - the opt dialect -----------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/Inlining.h"
#include "dialects/Opt/Opt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

#include "dialects/Opt/OptDialect.cpp.inc"

namespace drawloom::opt {

void OptDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Opt/OptOps.cpp.inc"
      >();
  addInterfaces<InlineAnywhere>();
}

} // namespace drawloom::opt
