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

/// `count` tiles of `size` starting at `offset`; for an open extent, whose
/// count is unknown, single elements starting at 0.
struct Piece {
  int64_t offset;
  int64_t size;
  int64_t count;
  bool isOpen() const { return mlir::ShapedType::isDynamic(count); }
  bool operator==(const Piece &other) const {
    return offset == other.offset && size == other.size && count == other.count;
  }
};

/// Cuts [0, extent) into tiles of `size`, and the remainder into decreasing
/// powers of two. `size` is first rounded down to a power of two: LLVM widens
/// other vectors, which costs several times their work. Returns no pieces for
/// an extent of 0, and single elements for an open one.
llvm::SmallVector<Piece> cutExtent(int64_t extent, int64_t size);

/// Like cutExtent, except that a remainder of more than one smaller power of
/// two is covered by one more tile, which ends with the extent and overlaps the
/// previous tile. Only for elements that may be computed twice. An extent below
/// `size` is cut as for the largest power of two below it.
llvm::SmallVector<Piece> coverExtent(int64_t extent, int64_t size);

/// Returns whether a point of `op` may be recomputed after it was stored, and
/// uses an elementary function: each piece saved is then worth thirty
/// operations. Training a rational function, whose ops are cheap, would take
/// twice the time.
bool gainsByCovering(mlir::linalg::LinalgOp op);

/// Cuts rows of register tiles, which are not vectorized, into the fewest tiles
/// of at most `size`, as even as possible: small tiles would have too few
/// accumulators in flight. A power of two is cut as by cutExtent.
llvm::SmallVector<Piece> cutRows(int64_t extent, int64_t size);

/// Like cutExtent, for a dot's contraction loop, whose remainder is processed
/// in single steps: two steps at a time would be loaded as a vector of two that
/// has to be split.
llvm::SmallVector<Piece> cutReduction(int64_t extent, int64_t size);

/// The triangular structure of a dot, for some of whose tiles there is nothing
/// to add up: its contraction loop `inner` ends at the rows of a lower
/// triangular factor, or begins with them if the factor's rows are the
/// contraction loop; and tiles of columns beyond all rows are skipped if only
/// the result's lower triangle is read.
struct Triangle {
  unsigned rows, columns, inner;
  bool endsWithRows = false, beginsWithRows = false, resultIsLower = false;
};

/// How one op is tiled, together with the elementwise ops that read its tile
/// from registers.
struct TilePlan {
  /// The op to tile, then the consumers that are computed on its tile, in
  /// program order. Each consumer is elementwise, has one result, and reads its
  /// predecessors' results and writes its own through identity maps.
  llvm::SmallVector<mlir::linalg::LinalgOp> chain;
  /// The tiles of each loop of the first op, and the order of the loops,
  /// outermost first.
  llvm::SmallVector<llvm::SmallVector<Piece>> pieces;
  llvm::SmallVector<unsigned> order;
  /// Tiles of the remainder that `pieces` leaves, in loops of their own after
  /// those; empty if there is none.
  llvm::SmallVector<llvm::SmallVector<Piece>> rest;
  /// Whether the body is copied for each tile instead of looping. Tiles at
  /// constant offsets can stay in registers throughout the surrounding loops.
  bool unroll = false;
  /// A reduction loop of the first op that runs along memory, in one piece and
  /// among the inner loops: each lane of the tile accumulates separately, and
  /// the lanes are added up once, after the loops.
  std::optional<unsigned> lanes;
  std::optional<Triangle> triangle;
  /// Operands of the first op whose tiles come from a packed copy.
  llvm::SmallVector<Panels> panels;
};

/// Returns whether the terms that an op adds up are known to lie within one
/// row.
bool isWithinRow(mlir::Operation *op);

/// Makes a few short rows that are summed up along `along` a single tile: their
/// sums form a vector, which would otherwise be assembled in memory.
void coverFewRows(mlir::linalg::LinalgOp op, unsigned along, TilePlan &plan);

/// Returns whether sums of `op` over `loop` can be accumulated per lane: every
/// result that lacks the loop must be a reduction by one operation with a
/// neutral element.
bool hasLaneSums(mlir::linalg::LinalgOp op, unsigned loop);

/// Replaces the chain by loops over tiles of static shape, each containing a
/// small copy of the ops of the chain. An init that is a fill is filled tile by
/// tile. A result of the chain that only the chain reads is never stored.
void emitTiles(mlir::RewriterBase &rewriter, const TilePlan &plan);

/// Replaces `op` by loops over single elements in scalar code, which works for
/// every linalg op, whatever its maps and body.
void emitScalarLoops(mlir::RewriterBase &rewriter, mlir::linalg::LinalgOp op);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_VECTORS_REGISTERTILES_H
