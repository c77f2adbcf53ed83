//===- KernelExport.h - one kernel over tiles, printed -------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_TRITON_KERNELEXPORT_H
#define DRAWLOOM_CODEGEN_TRITON_KERNELEXPORT_H

#include "codegen/nvptx/dialect/Tile.h"
#include "codegen/triton/ExportTtir.h"
#include "codegen/triton/Views.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <variant>

namespace drawloom::triton {

/// A scalar is an Ssa.
using Entry = std::variant<Ssa, Tile, View>;

/// Prints one kernel. Each function that can refuse emits one error and fails.
class KernelExport {
public:
  KernelExport(std::vector<TtirBuffer> &buffers, mlir::func::FuncOp kernel,
               const TtirOptions &options)
      : buffers(buffers), kernel(kernel),
        print(kernel.getContext(), options.dotPrecision), tiles(print),
        views(print, tiles) {}

  /// `operands` describes each argument.
  mlir::FailureOr<TtirKernel> run(llvm::ArrayRef<TtirParameter> operands);

private:
  // KernelExport.cpp: regions, control flow, values.
  mlir::LogicalResult emitBody(mlir::Block &block);
  mlir::LogicalResult emit(mlir::Operation *op);
  mlir::LogicalResult emitShape(mlir::Operation *op);
  mlir::LogicalResult emitFor(mlir::scf::ForOp op);
  mlir::LogicalResult emitIf(mlir::scf::IfOp op);
  mlir::LogicalResult emitWhile(mlir::scf::WhileOp op);
  void emitYield(llvm::StringRef name, mlir::ValueRange values);
  llvm::SmallVector<Ssa> carried(mlir::ValueRange values);
  void bindResults(const std::string &base, mlir::ValueRange results);
  std::string bindFresh(mlir::Value value);
  void bindAs(mlir::Value value, const std::string &name);
  Ssa scalarOf(mlir::Value value) { return std::get<Ssa>(entries.at(value)); }
  Ssa scalarOf(mlir::OpFoldResult value);
  const View &viewOf(mlir::Value value) {
    return std::get<View>(entries.at(value));
  }
  /// Returns a tile's value: buffers are loaded, and scalars used directly.
  Tile tileOf(mlir::Value value);
  Ssa addParameter(const TtirParameter &parameter, mlir::Type type);

  // Memory.cpp: views, loads, stores.
  void emitAlloc(tile::AllocOp op);
  void emitSubview(mlir::memref::SubViewOp op);
  void emitReshapedView(mlir::Operation *op);
  void emitCast(mlir::memref::CastOp op);
  void emitStore(tile::StoreOp op);
  void emitGather(tile::GatherOp op);
  void emitScatter(tile::ScatterOp op);

  // Shapes.cpp: ops that combine or move the elements of a tile.
  void emitBroadcast(tile::BroadcastOp op);
  void emitReduce(tile::ReduceOp op);
  void emitScan(tile::ScanOp op);
  void emitDot(tile::DotOp op);
  void emitSolve(tile::SolveOp op);

  std::vector<TtirBuffer> &buffers;
  mlir::func::FuncOp kernel;
  TtirPrinter print;
  PaddedTiles tiles;
  Views views;
  TtirKernel result;
  std::string head;
  llvm::DenseMap<mlir::Value, Entry> entries;
  Ssa program;
};

/// Prints one op of arith or math on operands of one shape.
mlir::FailureOr<Ssa> emitElementwise(TtirPrinter &print, mlir::Operation *op,
                                     llvm::ArrayRef<Ssa> operands);

/// Emits an error that names the op.
mlir::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &why);

/// Reports ops that must not occur in kernels over tiles.
mlir::LogicalResult checkKernel(mlir::func::FuncOp kernel);

/// Returns whether a buffer is not memory, but stands for the single tile that
/// is stored to it.
bool isHeldAsTile(mlir::Value buffer);

/// Makes a kernel that copies elements from one buffer to another, `block` of
/// them per program.
TtirKernel copyKernel(const std::string &name, llvm::StringRef element,
                      int64_t count, int64_t block,
                      const std::vector<TtirParameter> &parameters,
                      mlir::MLIRContext *context);

} // namespace drawloom::triton

#endif // DRAWLOOM_CODEGEN_TRITON_KERNELEXPORT_H
