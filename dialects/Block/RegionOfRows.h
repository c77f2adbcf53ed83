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

/// Returns whether all ops of a region can be vectorized over rows.
bool hasFormForRows(mlir::Block &body);

/// Computes what a region yields for `count` rows at once: every result has an
/// additional leading dimension of that extent. So do `rows`, the values of the
/// region's arguments, except arguments for which `isShared` says that all rows
/// read the same value.
llvm::SmallVector<mlir::Value>
executeForRows(mlir::OpBuilder &builder, mlir::Location loc, mlir::Block &body,
               mlir::ValueRange rows, llvm::ArrayRef<bool> isShared,
               int64_t count);

} // namespace drawloom::block

#endif // DRAWLOOM_DIALECTS_BLOCK_REGIONOFROWS_H
