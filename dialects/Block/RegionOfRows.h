//===- RegionOfRows.h - a region for many rows at once ----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_DIALECTS_BLOCK_REGIONOFROWS_H
#define DRAWLOOM_DIALECTS_BLOCK_REGIONOFROWS_H

#include "mlir/IR/Builders.h"

namespace drawloom::block {

/// Whether all ops of a region have a form for many rows at once.
bool hasFormForRows(mlir::Block &body);

/// What a region yields for `count` rows at once: every result has a dimension
/// of that extent in front. So have `rows`, the values of the region's
/// arguments, unless `isShared` says of one that all rows read the same.
llvm::SmallVector<mlir::Value>
executeForRows(mlir::OpBuilder &builder, mlir::Location loc, mlir::Block &body,
               mlir::ValueRange rows, llvm::ArrayRef<bool> isShared,
               int64_t count);

} // namespace drawloom::block

#endif // DRAWLOOM_DIALECTS_BLOCK_REGIONOFROWS_H
