//===- ProductAttributes.h - dense products as data -------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product that a library computes is a private function: its body says in
// linalg what is computed, the dictionary `drawloom.product` on it how the
// library is asked for that. Calls of it pass left, right, then what is added
// to each element, and to each row, where there are such. The same fields, by
// the same names, are JSON in launch plans; fields that are 0 or false may be
// absent.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_PRODUCTS_PRODUCTATTRIBUTES_H
#define DRAWLOOM_CODEGEN_NVPTX_PRODUCTS_PRODUCTATTRIBUTES_H

#include "drawloom/runtime/CudaProducts.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "passes/Block/Products.h"
#include "llvm/Support/JSON.h"

namespace drawloom::nvptx {

using runtime::cuda::Product;

mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context,
                                 const Product &product);
/// Nothing where a field has another type.
std::optional<Product> productFromAttribute(mlir::DictionaryAttr attribute);

llvm::json::Value toJSON(const Product &product);
} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_PRODUCTS_PRODUCTATTRIBUTES_H
