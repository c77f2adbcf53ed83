//===- GenericToTiles.h - all iterations of a linalg op at once -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_TILES_GENERICTOTILES_H
#define DRAWLOOM_CODEGEN_NVPTX_TILES_GENERICTOTILES_H

#include "codegen/nvptx/tiles/Homes.h"

namespace drawloom::nvptx {

/// Computes a linalg op as arithmetic on whole tiles. Returns the tiles of its
/// results. If it cannot be expressed, an error names why.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
genericToTiles(mlir::linalg::GenericOp op, mlir::OpBuilder &builder,
               Homes &homes);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_TILES_GENERICTOTILES_H
