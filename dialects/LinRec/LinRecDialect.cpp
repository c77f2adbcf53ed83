//===- LinRecDialect.cpp - the linrec dialect -----------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/Block/Block.h"
#include "dialects/Interfaces/Inlining.h"
#include "dialects/LinRec/LinRec.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

#include "dialects/LinRec/LinRecEnums.cpp.inc"

#include "dialects/LinRec/LinRecDialect.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/LinRec/LinRecOps.cpp.inc"

namespace drawloom::linrec {

void LinRecDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/LinRec/LinRecOps.cpp.inc"
      >();
  addInterfaces<InlineAnywhere>();
}

} // namespace drawloom::linrec
