//===- PackPanels.h - operands of dots in panels ----------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dot reads each panel of an operand (as many columns as its accumulator
// tile has) again for every tile along the other side. In a wide matrix the
// rows of a panel lie so far apart that they fall into few sets of the
// first-level cache and push each other out. Packed, a panel is contiguous.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_VECTORS_PACKPANELS_H
#define DRAWLOOM_CODEGEN_CPU_VECTORS_PACKPANELS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"
#include <optional>

namespace drawloom::cpu {

/// A matrix [rows, columns] as `tensor` [panels, rows, width]; the last panel
/// may be filled in part.
struct Panels {
  /// Of the dot that reads it.
  unsigned operand;
  mlir::Value tensor;
  /// What fills it.
  llvm::SmallVector<mlir::linalg::LinalgOp> copies;
  /// Where the part that the dot reads begins.
  mlir::OpFoldResult firstRow, firstColumn;
  /// The place of the tile at `offsets` with `sizes`, both of that
  /// part. A tile lies within one panel.
  mlir::Value tile(mlir::OpBuilder &b, mlir::Location loc,
                   llvm::ArrayRef<mlir::OpFoldResult> offsets,
                   llvm::ArrayRef<int64_t> sizes) const;
};

/// A dot's operand, and how many of the dot's tiles read a panel of it.
struct PanelReader {
  mlir::OpOperand *input;
  int64_t uses;
};

/// Packs the matrix that dots read into panels of `width` columns, before the
/// loops around them through which it does not change. Nothing where that would
/// not pay: the panels stay in the first-level cache as they are, or too few
/// tiles read one.
std::optional<Panels> packPanels(mlir::RewriterBase &rewriter,
                                 llvm::ArrayRef<PanelReader> readers,
                                 int64_t width);

/// The op before which something can be computed from `source` that `op` needs:
/// outside all loops around `op` that do not hold the source.
mlir::Operation *outermostUser(mlir::Value source, mlir::Operation *op);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_VECTORS_PACKPANELS_H
