//===- ProductCost.h - who is to compute a dense product --------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Estimates of what a product takes by a library and by kernels of our own. The
// device's rates come from Machine.h, the shares of them that are reached from
// ProductCost.inc.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_PRODUCTS_PRODUCTCOST_H
#define DRAWLOOM_CODEGEN_NVPTX_PRODUCTS_PRODUCTCOST_H

#include "codegen/nvptx/emit/Machine.h"
#include "codegen/nvptx/products/ProductAttributes.h"

namespace drawloom::nvptx {

struct ProductCost {
  /// Infinite for kernels of our own where these do not fit into shared memory.
  double librarySeconds = 0, ownSeconds = 0;
  bool libraryIsFaster() const { return librarySeconds < ownSeconds; }
};

/// `ownPasses`: elementwise ops that the library does on the way, and our
/// kernels apart: each reads and writes the result once more.
ProductCost costOf(const Product &product, int64_t ownPasses,
                   const Machine &machine);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_PRODUCTS_PRODUCTCOST_H
