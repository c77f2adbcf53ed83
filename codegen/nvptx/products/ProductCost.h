//===- ProductCost.h - who is to compute a dense product --------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Estimates the time of a product by a library and by Drawloom's own kernels.
// The device's rates come from Machine.h, and the fractions of them that are
// reached from ProductCost.inc.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_PRODUCTS_PRODUCTCOST_H
#define DRAWLOOM_CODEGEN_NVPTX_PRODUCTS_PRODUCTCOST_H

#include "codegen/nvptx/emit/Machine.h"
#include "codegen/nvptx/products/ProductAttributes.h"

namespace drawloom::nvptx {

struct ProductCost {
  /// Own kernels take infinite time if they do not fit into shared memory.
  double librarySeconds = 0, ownSeconds = 0;
  bool libraryIsFaster() const { return librarySeconds < ownSeconds; }
};

/// Estimates a product. `ownPasses` is the number of elementwise ops that the
/// library fuses but own kernels do not: each reads and writes the result once
/// more.
ProductCost costOf(const Product &product, int64_t ownPasses,
                   const Machine &machine);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_PRODUCTS_PRODUCTCOST_H
