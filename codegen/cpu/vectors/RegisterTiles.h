//===- RegisterTiles.h - loops over register tiles --------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_VECTORS_REGISTERTILES_H
#define DRAWLOOM_CODEGEN_CPU_VECTORS_REGISTERTILES_H

#include "codegen/cpu/vectors/PackPanels.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"
#include <optional>

namespace drawloom::cpu {

/// `count` tiles of `size` from `offset` on; of an open extent, of which nobody
/// knows the count, single ones from 0 on.
struct Piece {
  int64_t offset;
  int64_t size;
  int64_t count;
  bool isOpen() const { return mlir::ShapedType::isDynamic(count); }
  bool operator==(const Piece &other) const {
    return offset == other.offset && size == other.size && count == other.count;
  }
};

/// Cuts [0, extent) into tiles of `size` and what is left into ever smaller
/// powers of two. `size` is rounded down to a power of two first: LLVM widens
/// other vectors, which costs several times their work. None for an extent
/// of 0, single elements for an open one.
llvm::SmallVector<Piece> cutExtent(int64_t extent, int64_t size);

/// As above, but where more than one smaller power of two would be left, one
/// more tile ends with the extent and overlaps the one in front of it. Only for
/// what may be computed twice. An extent below `size` is cut as for the power
/// of two below it.
llvm::SmallVector<Piece> coverExtent(int64_t extent, int64_t size);

/// Whether a point of `op` may be computed again after it was stored, and takes
/// an elementary function: thirty operations for each piece that is saved.
/// Training a rational function, whose ops are cheap, would take twice the
/// time.
bool gainsByCovering(mlir::linalg::LinalgOp op);

/// Cuts rows of register tiles, which are no vector, into as few tiles of at
/// most `size` as there can be, as even as they can be: small ones would have
/// too few sums under way. A power of two is cut as above.
llvm::SmallVector<Piece> cutRows(int64_t extent, int64_t size);

/// As above for a dot's inner loop, whose remainder goes in single steps: two
/// steps at a time are loaded as a vector of two that has to be taken apart.
llvm::SmallVector<Piece> cutReduction(int64_t extent, int64_t size);

/// Of a dot, where nothing is to be added up for some of its tiles: its inner
/// loop `inner` ends with the rows of a factor that is lower triangular, or
/// begins with them where the factor's rows are the inner loop; and none runs
/// for columns behind all rows where only the result's lower triangle is read.
struct Triangle {
  unsigned rows, columns, inner;
  bool endsWithRows = false, beginsWithRows = false, resultIsLower = false;
};

/// How one op, together with the elementwise ops that read its tile from
/// registers, is cut up.
struct TilePlan {
  /// The op to tile, then the consumers that are computed on its tile, in
  /// program order. Each consumer is elementwise, has one result and reads its
  /// predecessors' results and writes its own through identity maps.
  llvm::SmallVector<mlir::linalg::LinalgOp> chain;
  /// Of the first op's loops: their tiles, and the order from the outermost in.
  llvm::SmallVector<llvm::SmallVector<Piece>> pieces;
  llvm::SmallVector<unsigned> order;
  /// Pieces of what `pieces` leaves, in loops of its own behind those; none
  /// where they leave nothing.
  llvm::SmallVector<llvm::SmallVector<Piece>> rest;
  /// One copy of the body for each tile instead of loops. Tiles at constant
  /// offsets can stay in registers through the loops around them.
  bool unroll = false;
  /// A reduction loop of the first op that runs along memory, in one piece and
  /// among the inner ones: each lane of the tile keeps a sum of its own, and
  /// the lanes are added up once, after the loops.
  std::optional<unsigned> lanes;
  std::optional<Triangle> triangle;
  /// Operands of the first op of which tiles come from a packed copy.
  llvm::SmallVector<Panels> panels;
};

/// Whether what an op adds up is known to lie within one row.
bool isWithinRow(mlir::Operation *op);

/// Few short rows that are summed up along `along` are one tile: their sums are
/// a vector, which would be put together in memory otherwise.
void coverFewRows(mlir::linalg::LinalgOp op, unsigned along, TilePlan &plan);

/// Whether sums of `op` over `loop` can be kept by lanes: every result that
/// lacks the loop is a reduction of one operation with a neutral element.
bool hasLaneSums(mlir::linalg::LinalgOp op, unsigned loop);

/// Replaces the chain by loops over tiles of static shape, each holding a small
/// copy of the ops of the chain. An init that is a fill is filled tile by tile.
/// A result of the chain that only the chain reads is never stored.
void emitTiles(mlir::RewriterBase &rewriter, const TilePlan &plan);

/// Replaces `op` by loops over single elements in scalar code: the form that
/// every linalg op has, whatever its maps and its body.
void emitScalarLoops(mlir::RewriterBase &rewriter, mlir::linalg::LinalgOp op);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_VECTORS_REGISTERTILES_H
