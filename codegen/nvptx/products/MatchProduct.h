//===- MatchProduct.h - dense products that a library computes --*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_PRODUCTS_MATCHPRODUCT_H
#define DRAWLOOM_CODEGEN_NVPTX_PRODUCTS_MATCHPRODUCT_H

#include "codegen/nvptx/products/ProductAttributes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace drawloom::nvptx {

/// A product with what the library does on the way: what its sums start from,
/// and the elementwise ops behind it that nobody else reads.
struct MatchedProduct {
  Product product;
  mlir::linalg::LinalgOp op;
  /// What the library reads, by name; null where it does not.
  mlir::Value left, right, addend, bias;
  /// What it computes.
  mlir::Value result;
  /// `result` is the rounded numbers in f32, but the library's are of the
  /// product's type: widen them.
  bool widened = false;
  /// The product, its fills and broadcasts, and the ops behind it.
  llvm::SmallVector<mlir::Operation *> ops;
  /// Elementwise ops that take a pass over the result of their own otherwise.
  int64_t passes = 0;
  /// Of left, right, and result: as sameDimensionsAttr has them, with values
  /// numbered 0, 1, 2.
  llvm::SmallVector<int64_t> sameDimensions;
};

/// Nothing for what is no plain product of floats of static shape, or whose
/// matrices no library can walk through.
std::optional<MatchedProduct> matchProduct(mlir::linalg::LinalgOp op);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_PRODUCTS_MATCHPRODUCT_H
