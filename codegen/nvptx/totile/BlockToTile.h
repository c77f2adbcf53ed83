//===- BlockToTile.h - what a tensor of a block program is in a kernel ----===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_TOTILE_BLOCKTOTILE_H
#define DRAWLOOM_CODEGEN_NVPTX_TOTILE_BLOCKTOTILE_H

#include "codegen/nvptx/launch/OpenKernels.h"
#include "codegen/nvptx/tile/Tile.h"
#include "dialects/Block/Block.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"

namespace drawloom::nvptx {

/// Whether an op is several products of 16-bit numbers with sums in f32, which
/// are one product of their rows one below the other.
bool isBatchOfDots(mlir::linalg::LinalgOp op,
                   const mlir::linalg::ContractionDimensions &dims);

/// Rewrites one block program into a kernel over tiles. What it cannot say is
/// an error that names the op.
class BlockToTile {
public:
  BlockToTile(mlir::func::FuncOp program, int64_t maxGrid, bool keepWhile)
      : program(program), builder(program.getContext()), maxGrid(maxGrid),
        keepWhile(keepWhile), allBlocks(builder.getIndexAttr(0)),
        firstBlock(builder.getIndexAttr(0)) {}

  /// Puts the kernel in the program's place.
  mlir::LogicalResult run();

  /// Whether what is filled, and then changed part by part, is so large that
  /// this happens where the result will be, not in shared memory.
  static bool isFilledInPlace(mlir::linalg::FillOp op);
  static bool isReadAfter(mlir::Value tensor, mlir::Operation *op);

private:
  /// Where a tensor is.
  struct Home {
    enum Kind {
      Undefined, ///< Nowhere: its elements are not defined yet.
      Memory,    ///< `value` is a memref.
      Tile       ///< `value` is a tensor in registers.
    };
    Kind kind = Undefined;
    mlir::Value value;
    /// Memory of this kernel's own, that ops may change in place.
    bool writable = false;
  };

  mlir::LogicalResult convertBody(mlir::Block &block);
  mlir::LogicalResult convert(mlir::Operation *op);
  /// The number of this block, of all that the kernel's block programs have.
  mlir::LogicalResult makeGrid();
  /// Adds to what is known of the grid those blocks of which calls say how many
  /// there are.
  mlir::LogicalResult countOpenBlocks(mlir::scf::ForallOp op, int64_t &most,
                                      ExtentExpression &all);
  /// A number, and what it is made of, in front of all blocks.
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
  /// Of arithmetic on tensors.
  mlir::LogicalResult convertElementwise(mlir::Operation *op);

  mlir::LogicalResult convertLinalg(mlir::linalg::LinalgOp op);
  mlir::LogicalResult convertFill(mlir::linalg::FillOp op);
  /// Nothing where the op is no product of two matrices.
  std::optional<mlir::LogicalResult> convertDot(mlir::linalg::LinalgOp op);
  mlir::LogicalResult
  convertBatch(mlir::linalg::LinalgOp op,
               const mlir::linalg::ContractionDimensions &dims);
  mlir::LogicalResult convertGeneric(mlir::linalg::GenericOp op);
  mlir::FailureOr<mlir::Value> reduceInto(mlir::linalg::GenericOp op,
                                          unsigned output,
                                          llvm::ArrayRef<int64_t> reduced,
                                          mlir::IRMapping &body,
                                          llvm::ArrayRef<int64_t> shape);
  mlir::FailureOr<mlir::Value> onIterations(mlir::linalg::GenericOp op,
                                            mlir::Value tile,
                                            mlir::AffineMap map,
                                            llvm::ArrayRef<int64_t> shape);
  mlir::LogicalResult convertPoint(mlir::Operation *op, mlir::IRMapping &body,
                                   llvm::ArrayRef<int64_t> shape);

  /// The tensor in registers.
  mlir::FailureOr<mlir::Value> asTile(mlir::Value tensor);
  /// The tensor in memory that nobody changes while it is read.
  mlir::FailureOr<mlir::Value> asMemory(mlir::Value tensor);
  mlir::Value allocate(mlir::Location loc, mlir::RankedTensorType type);
  /// Memory for a tensor that is changed part by part, with its elements.
  mlir::FailureOr<mlir::Value> ownMemory(mlir::Value tensor);
  /// Whether `op` may change the tensor where it is: nothing reads that memory
  /// as it was afterwards, by this name or by that of another shape.
  bool mayChange(mlir::Value tensor, mlir::Operation *op);
  /// Where `op` may change the tensor in place: its own memory, or a copy.
  mlir::FailureOr<mlir::Value> memoryToChange(mlir::Value tensor,
                                              mlir::Operation *op);
  mlir::Value splat(mlir::Location loc, mlir::Value scalar,
                    llvm::ArrayRef<int64_t> shape);
  mlir::Value loadTile(mlir::Location loc, mlir::Value memory,
                       mlir::RankedTensorType type);
  mlir::Value subview(mlir::Location loc, mlir::Value memory,
                      mlir::RankedTensorType part,
                      llvm::ArrayRef<mlir::OpFoldResult> offsets,
                      llvm::ArrayRef<mlir::OpFoldResult> sizes,
                      llvm::ArrayRef<mlir::OpFoldResult> strides);
  llvm::SmallVector<mlir::OpFoldResult>
  mapped(llvm::ArrayRef<mlir::OpFoldResult> values);

  /// Whether the tensor is changed or read part by part, which registers
  /// cannot be.
  static bool needsMemory(mlir::Value tensor);
  static bool isDestination(mlir::Value tensor);

  Home &home(mlir::Value tensor) { return homes[tensor]; }
  void setTile(mlir::Value tensor, mlir::Value tile) {
    homes[tensor] = {Home::Tile, tile, false};
  }
  void setMemory(mlir::Value tensor, mlir::Value memory, bool writable) {
    homes[tensor] = {Home::Memory, memory, writable};
  }

  mlir::func::FuncOp program;
  /// Not in the module: the program is replaced by it when it is complete.
  mlir::OwningOpRef<mlir::func::FuncOp> kernel;
  mlir::OpBuilder builder;
  int64_t maxGrid;
  bool keepWhile;
  mlir::Value block;
  /// Block programs of the kernel.
  int64_t parts = 0;
  /// Blocks of all of these, and of those that are converted already.
  mlir::OpFoldResult allBlocks, firstBlock;
  llvm::DenseMap<mlir::Value, Home> homes;
  /// Copies of tiles in shared memory.
  llvm::DenseMap<mlir::Value, mlir::Value> spilled;
  /// Of everything that is no tensor.
  mlir::IRMapping scalars;
  llvm::SmallVector<mlir::Value> resultMemory;
};

/// Where what becomes of a slice is put back to where it was taken, if it is:
/// only then may the slice be changed in its place.
mlir::Operation *putBack(mlir::Value tensor, mlir::tensor::ExtractSliceOp slice,
                         int depth = 0);

/// Gives each tensor that starts without content one of its own to start with.
void privatizeEmptyTensors(mlir::func::FuncOp kernel);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_TOTILE_BLOCKTOTILE_H
