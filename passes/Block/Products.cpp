//===- Products.cpp - which linalg ops are products of matrices -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Block/Products.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace drawloom {

static Value beforeWidening(Value value) {
  while (auto *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

bool isPlainProduct(linalg::LinalgOp op) {
  if (!linalg::isaContractionOpInterface(op))
    return false;
  Block *body = op.getBlock();
  Operation *add = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!add || add->getNumOperands() != 2)
    return false;
  Value output = body->getArguments().back();
  unsigned sum = beforeWidening(add->getOperand(0)) == output ? 0 : 1;
  if (beforeWidening(add->getOperand(sum)) != output)
    return false;
  Operation *multiply =
      beforeWidening(add->getOperand(1 - sum)).getDefiningOp();
  return multiply && multiply->getNumOperands() == 2 &&
         llvm::all_of(multiply->getOperands(), [](Value operand) {
           return isa<BlockArgument>(beforeWidening(operand));
         });
}

} // namespace drawloom
