//===- Products.h - which linalg ops are products of matrices ---*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_BLOCK_PRODUCTS_H
#define DRAWLOOM_PASSES_BLOCK_PRODUCTS_H

#include "dialects/Drawloom/Attributes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/Graph/DimensionClasses.h"

namespace drawloom {

/// Returns whether an op is a contraction whose body adds the product of its
/// two operands, which it at most widens before. linalg's own test also accepts
/// other functions of a single operand.
bool isPlainProduct(mlir::linalg::LinalgOp op);

inline bool isOpaque(mlir::Operation *function) {
  return function->hasAttr(productAttr);
}
} // namespace drawloom

#endif // DRAWLOOM_PASSES_BLOCK_PRODUCTS_H
