//===- FusedRows.h - what fusion along rows would fuse ----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PASSES_BLOCK_ROWS_FUSEDROWS_H
#define DRAWLOOM_PASSES_BLOCK_ROWS_FUSEDROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Block/Rows/RowCost.h"

namespace drawloom {

/// Returns the groups of a function's ops that fuse-rows would turn into block
/// programs, without changing anything. Fails, with a diagnostic, if the
/// function requests impossible tiles.
llvm::FailureOr<llvm::SmallVector<llvm::SmallVector<mlir::Operation *>>>
findFusedRows(mlir::func::FuncOp function, const FuseRowsOptions &options);

/// Converts the options of fuse-rows to text, for passes that query its
/// decisions and embed its options in their own.
std::string toText(const FuseRowsOptions &options);
/// Parses the options of fuse-rows; reports errors at `loc`.
llvm::FailureOr<FuseRowsOptions> parseFuseRowsOptions(llvm::StringRef text,
                                                      mlir::Location loc);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_BLOCK_ROWS_FUSEDROWS_H
