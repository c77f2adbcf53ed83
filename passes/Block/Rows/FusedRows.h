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

/// The groups of ops of a function that fuse-rows would make block programs of.
/// Changes nothing. Fails, with a diagnostic, where the function says of its
/// tiles what cannot be.
llvm::FailureOr<llvm::SmallVector<llvm::SmallVector<mlir::Operation *>>>
findFusedRows(mlir::func::FuncOp function, const FuseRowsOptions &options);

/// Options of fuse-rows as text, which passes have among their own that ask
/// what it would do.
std::string toText(const FuseRowsOptions &options);
/// Reports what is wrong at `loc`.
llvm::FailureOr<FuseRowsOptions> parseFuseRowsOptions(llvm::StringRef text,
                                                      mlir::Location loc);

} // namespace drawloom

#endif // DRAWLOOM_PASSES_BLOCK_ROWS_FUSEDROWS_H
