//===- Tile.h - tiles spread over the threads of a block --------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_DIALECT_TILE_H
#define DRAWLOOM_CODEGEN_NVPTX_DIALECT_TILE_H

#include "codegen/nvptx/dialect/Layout.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "codegen/nvptx/dialect/TileEnums.h.inc"

#include "codegen/nvptx/dialect/TileDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "codegen/nvptx/dialect/TileAttrs.h.inc"

#define GET_OP_CLASSES
#include "codegen/nvptx/dialect/TileOps.h.inc"

namespace drawloom::tile {

/// The memory space of shared memory in memref types.
inline constexpr int64_t sharedSpace = 3;
bool isShared(mlir::Type memref);

/// Returns the layout of a tile; nothing if it has none yet.
std::optional<Layout> layoutOf(mlir::Type type);
mlir::RankedTensorType withLayout(mlir::RankedTensorType type,
                                  const Layout &layout);

} // namespace drawloom::tile

#endif // DRAWLOOM_CODEGEN_NVPTX_DIALECT_TILE_H
