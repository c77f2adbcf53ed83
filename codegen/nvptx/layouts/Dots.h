//===- Dots.h - which instructions multiply matrices ------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LAYOUTS_DOTS_H
#define DRAWLOOM_CODEGEN_NVPTX_LAYOUTS_DOTS_H

#include "codegen/nvptx/dialect/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace drawloom::nvptx {

/// Returns whether mma.sync multiplies the operands; other types are multiplied
/// by fused multiply-adds.
inline bool usesTensorCores(tile::DotOp dot) {
  mlir::Type element =
      llvm::cast<mlir::ShapedType>(dot.getA().getType()).getElementType();
  return (element.isBF16() || element.isF16() || dot.getTf32()) &&
         llvm::cast<mlir::ShapedType>(dot.getResult().getType())
             .getElementType()
             .isF32();
}

/// How a dot's result is distributed over warps: along rows first, with at
/// least 16 rows per warp.
struct WarpGrid {
  int64_t m = 1, n = 1;
};
inline WarpGrid warpGrid(int64_t m, int64_t n, int64_t warps) {
  WarpGrid grid;
  while (grid.m < warps && grid.m * 16 < m)
    grid.m *= 2;
  grid.n = warps / grid.m;
  return grid;
}

/// Returns the layout of a dot's accumulators.
inline tile::Layout sumLayout(tile::DotOp dot, int64_t warps) {
  int64_t m = dot.getM(), n = dot.getN();
  if (!usesTensorCores(dot))
    return tile::outerProductLayout(m, n, warps);
  WarpGrid grid = warpGrid(m, n, warps);
  return tile::accumulatorLayout(m, n, grid.m, grid.n, dot.columnsInThread());
}

/// Returns whether loops of a kernel scan or solve: their many small tiles fill
/// the registers before the loop-carried accumulators do. Contractions by fused
/// multiply-adds prefer large tiles nevertheless.
inline bool scansInLoops(mlir::func::FuncOp kernel) {
  bool scans = false, solves = false, multiplies = false;
  kernel.walk([&](mlir::Operation *op) {
    bool inLoop = op->getParentOfType<mlir::scf::ForOp>() != nullptr;
    scans |= inLoop && llvm::isa<tile::ScanOp>(op);
    solves |= inLoop && llvm::isa<tile::SolveOp>(op);
    if (auto dot = llvm::dyn_cast<tile::DotOp>(op))
      multiplies |= !usesTensorCores(dot);
  });
  return solves || (scans && !multiplies);
}

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LAYOUTS_DOTS_H
