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

/// A product together with what the library fuses into it: the initial
/// accumulator, and the elementwise ops after it whose inputs have no other
/// users.
struct MatchedProduct {
  Product product;
  mlir::linalg::LinalgOp op;
  /// Operands that the library reads, by name; null if absent.
  mlir::Value left, right, addend, bias;
  /// The value that the library computes.
  mlir::Value result;
  /// Whether `result` is in f32 although the library's result has the product's
  /// type, so that it must be widened.
  bool widened = false;
  /// The product, its fills and broadcasts, and the ops after it.
  llvm::SmallVector<mlir::Operation *> ops;
  /// Number of elementwise ops that would otherwise each take a separate pass
  /// over the result.
  int64_t passes = 0;
  /// Equal dimensions of left, right and result, in the form of
  /// sameDimensionsAttr, with these values numbered 0, 1, 2.
  llvm::SmallVector<int64_t> sameDimensions;
};

/// Returns nothing if the op is not a plain product of floats of static shape,
/// or if no library supports the strides of its matrices.
std::optional<MatchedProduct> matchProduct(mlir::linalg::LinalgOp op);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_PRODUCTS_MATCHPRODUCT_H
