//===- BlockToTile.h - a block program as a kernel over tiles -------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_TILES_BLOCKTOTILE_H
#define DRAWLOOM_CODEGEN_NVPTX_TILES_BLOCKTOTILE_H

#include "codegen/nvptx/dialect/Tile.h"
#include "codegen/nvptx/launch/OpenKernels.h"
#include "codegen/nvptx/tiles/Homes.h"
#include "dialects/Block/Block.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/OwningOpRef.h"

namespace drawloom::nvptx {

/// Returns whether an op is a batch of products of 16-bit numbers with f32
/// accumulators that can be computed as one product of their stacked rows.
bool isBatchOfDots(mlir::linalg::LinalgOp op,
                   const mlir::linalg::ContractionDimensions &dims);

/// Converts one block program to a kernel over tiles. If an op cannot be
/// expressed, the error names it.
class BlockToTile {
public:
  BlockToTile(mlir::func::FuncOp program, int64_t maxGrid, bool keepWhile)
      : program(program), builder(program.getContext()), maxGrid(maxGrid),
        keepWhile(keepWhile), allBlocks(builder.getIndexAttr(0)),
        firstBlock(builder.getIndexAttr(0)), homes(builder) {}

  /// Replaces the program by the kernel.
  mlir::LogicalResult run();

private:
  mlir::LogicalResult convertBody(mlir::Block &block);
  mlir::LogicalResult convert(mlir::Operation *op);
  /// Computes the number of this block among the blocks of all of the kernel's
  /// block programs.
  mlir::LogicalResult makeGrid();
  /// Adds the blocks of a block program whose number depends on open extents to
  /// the known part of the grid.
  mlir::LogicalResult countOpenBlocks(mlir::scf::ForallOp op, int64_t &most,
                                      ExtentExpression &all);
  /// Moves a scalar, and the ops that compute it, in front of all blocks.
  mlir::Value bringScalar(mlir::Value value);
  mlir::LogicalResult convertGrid(mlir::scf::ForallOp op);
  mlir::LogicalResult convertFor(mlir::scf::ForOp op);
  mlir::LogicalResult convertWhile(mlir::scf::WhileOp op);
  mlir::LogicalResult convertIf(mlir::scf::IfOp op);
  mlir::LogicalResult convertReturn(mlir::func::ReturnOp op);

  mlir::LogicalResult convertTensorOp(mlir::Operation *op);
  mlir::LogicalResult convertSlice(mlir::tensor::ExtractSliceOp op);
  mlir::LogicalResult convertInsert(mlir::tensor::InsertSliceOp op);
  mlir::LogicalResult convertPad(mlir::tensor::PadOp op);
  mlir::LogicalResult convertConcat(mlir::tensor::ConcatOp op);
  mlir::LogicalResult
  convertParallelInsert(mlir::tensor::ParallelInsertSliceOp op);
  mlir::LogicalResult convertReshape(mlir::Operation *op);
  mlir::LogicalResult convertBlockOp(mlir::Operation *op);
  mlir::LogicalResult convertTable(mlir::arith::ConstantOp op);
  /// Converts arithmetic on tensors.
  mlir::LogicalResult convertElementwise(mlir::Operation *op);

  mlir::LogicalResult convertLinalg(mlir::linalg::LinalgOp op);
  mlir::LogicalResult convertFill(mlir::linalg::FillOp op);
  /// Returns nothing if the op is not a product of two matrices.
  std::optional<mlir::LogicalResult> convertDot(mlir::linalg::LinalgOp op);
  mlir::LogicalResult
  convertBatch(mlir::linalg::LinalgOp op,
               const mlir::linalg::ContractionDimensions &dims);
  mlir::LogicalResult convertGeneric(mlir::linalg::GenericOp op);

  mlir::func::FuncOp program;
  /// Not part of the module: replaces the program when it is complete.
  mlir::OwningOpRef<mlir::func::FuncOp> kernel;
  mlir::OpBuilder builder;
  int64_t maxGrid;
  bool keepWhile;
  mlir::Value block;
  /// Number of block programs of the kernel.
  int64_t parts = 0;
  /// Number of blocks of all block programs, and of those that are converted
  /// already.
  mlir::OpFoldResult allBlocks, firstBlock;
  Homes homes;
  llvm::SmallVector<mlir::Value> resultMemory;
};

/// Returns the op that inserts the final version of a slice back where it was
/// taken, if there is one: only then may the slice be changed in place.
mlir::Operation *putBack(mlir::Value tensor, mlir::tensor::ExtractSliceOp slice,
                         int depth = 0);

/// Gives each tensor that starts uninitialized an initial tensor of its own.
void privatizeEmptyTensors(mlir::func::FuncOp kernel);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_TILES_BLOCKTOTILE_H
