//===- PackPanels.h - operands of dots in panels ----------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dot reads each panel of an operand (as many columns as its accumulator tile
// has) again for every tile along the other dimension. In a wide matrix, the
// rows of a panel are so far apart that they map to few sets of the first-level
// cache and evict each other. A packed panel is contiguous.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_VECTORS_PACKPANELS_H
#define DRAWLOOM_CODEGEN_CPU_VECTORS_PACKPANELS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"
#include <optional>

namespace drawloom::cpu {

/// A matrix [rows, columns] packed as `tensor` [panels, rows, width]; the last
/// panel may be partly filled.
struct Panels {
  /// Operand number of the dot that reads the panels.
  unsigned operand;
  mlir::Value tensor;
  /// The ops that fill the tensor.
  llvm::SmallVector<mlir::linalg::LinalgOp> copies;
  /// Position in the matrix at which the part that the dot reads begins.
  mlir::OpFoldResult firstRow, firstColumn;
  /// Returns the packed tile for the tile at `offsets` with `sizes`, both
  /// relative to the part that the dot reads. A tile must lie within one panel.
  mlir::Value tile(mlir::OpBuilder &b, mlir::Location loc,
                   llvm::ArrayRef<mlir::OpFoldResult> offsets,
                   llvm::ArrayRef<int64_t> sizes) const;
};

/// An operand of a dot, and the number of the dot's tiles that read each of its
/// panels.
struct PanelReader {
  mlir::OpOperand *input;
  int64_t uses;
};

/// Packs the matrix that dots read into panels of `width` columns, outside the
/// loops in which it is invariant. Returns nothing if packing would not pay
/// off: the panels stay in the first-level cache as they are, or too few tiles
/// read each panel.
std::optional<Panels> packPanels(mlir::RewriterBase &rewriter,
                                 llvm::ArrayRef<PanelReader> readers,
                                 int64_t width);

/// Returns the op before which a value that `op` needs can be computed from
/// `source`: outside all loops around `op` that do not contain the source.
mlir::Operation *outermostUser(mlir::Value source, mlir::Operation *op);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_VECTORS_PACKPANELS_H
