//===- ProductAttributes.h - dense products as data -------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library product is a private function: its body defines the computation in
// linalg, and its dictionary `drawloom.product` describes the library call.
// Calls pass left, right, then, if present, the value added to each element and
// the value added to each row. The same fields are used, by the same names, as
// JSON in launch plans; fields that are 0 or false may be absent.
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
/// Returns nothing if a field has the wrong type.
std::optional<Product> productFromAttribute(mlir::DictionaryAttr attribute);

llvm::json::Value toJSON(const Product &product);
} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_PRODUCTS_PRODUCTATTRIBUTES_H
