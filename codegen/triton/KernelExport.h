//===- KernelExport.h - one kernel over tiles, printed -------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_TRITON_KERNELEXPORT_H
#define DRAWLOOM_CODEGEN_TRITON_KERNELEXPORT_H

#include "codegen/nvptx/tile/Tile.h"
#include "codegen/triton/ExportTtir.h"
#include "codegen/triton/TtirPrinter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <optional>
#include <variant>

namespace drawloom::triton {

/// A value of tensor type in registers: padded to powers of two. What stands in
/// the padding is unspecified unless `zeroPadding`.
struct Tile {
  Ssa value;
  llvm::SmallVector<int64_t> extents;
  bool zeroPadding = false;
};

/// A number that is partly known.
struct Offset {
  int64_t number = 0;
  Ssa more;
};

struct Dimension {
  /// kDynamic where only `dynamicSize` says it.
  int64_t size = 1;
  /// In elements; of a part of a tile, in steps along `axis`.
  int64_t stride = 1;
  Ssa dynamicSize;
  int64_t axis = 0;
};

/// What a memref is: a part of memory, or of a tile, where that is all that
/// would be stored there.
struct View {
  Ssa pointer;
  std::optional<Tile> tile;
  /// One; of a part of a tile, one for each of its dimensions.
  llvm::SmallVector<Offset> offsets;
  llvm::SmallVector<Dimension> dimensions;
  /// Elements are bits, which memory holds in bytes.
  bool isBit = false;
};

/// Scalars are an Ssa.
using Entry = std::variant<Ssa, Tile, View>;

/// Prints one kernel. Each function that can refuse emits one error and fails.
class KernelExport {
public:
  KernelExport(std::vector<TtirBuffer> &buffers, mlir::func::FuncOp kernel,
               const TtirOptions &options)
      : buffers(buffers), kernel(kernel),
        print(kernel.getContext(), options.dotPrecision) {}

  /// `operands`: what each argument is.
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
  /// Loads buffers, and takes scalars as they are.
  Tile tileOf(mlir::Value value);
  Ssa addParameter(const TtirParameter &parameter, mlir::Type type);

  // Memory.cpp: views, loads, stores.
  Ssa sizeOf(const Dimension &dimension);
  void emitAlloc(tile::AllocOp op);
  void emitSubview(mlir::memref::SubViewOp op);
  void emitReshapedView(mlir::Operation *op);
  void emitCast(mlir::memref::CastOp op);
  void emitStore(tile::StoreOp op);
  void emitGather(tile::GatherOp op);
  void emitScatter(tile::ScatterOp op);
  View wholeView(mlir::MemRefType type, const Ssa &pointer);
  Tile load(const View &view, llvm::ArrayRef<int64_t> extents);
  Tile loadPart(const View &view, llvm::ArrayRef<int64_t> extents);
  Ssa loadElements(const View &view, llvm::ArrayRef<Ssa> indices,
                   llvm::ArrayRef<int64_t> extents);
  Ssa baseOf(const View &view);
  /// Pointers to the elements of a view, row by row of `rows` where that is
  /// given (numbers of rows of dimension 0).
  Ssa elementPointers(const View &view, llvm::ArrayRef<int64_t> shape,
                      const Ssa &rows);
  /// Where elements are: inside of the extents, and of a view's.
  Ssa accessMask(const View &view, llvm::ArrayRef<int64_t> extents,
                 llvm::ArrayRef<int64_t> shape);
  Ssa rowMask(const Ssa &rows, llvm::ArrayRef<int64_t> extents,
              llvm::ArrayRef<int64_t> shape);
  Ssa fromMemory(const Ssa &value, const View &view);

  // Shapes.cpp: what combines the elements of a tile, or moves them.
  void emitBroadcast(tile::BroadcastOp op);
  void emitReduce(tile::ReduceOp op);
  void emitScan(tile::ScanOp op);
  void emitDot(tile::DotOp op);
  void emitSolve(tile::SolveOp op);
  Tile reshape(const Tile &tile, llvm::ArrayRef<int64_t> extents);
  /// True inside of the extents along some dimensions; absent where none of
  /// these is padded.
  Ssa insideMask(llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<int64_t> shape,
                 llvm::ArrayRef<int64_t> dimensions);
  Ssa below(const Ssa &limit, int64_t dimension, llvm::ArrayRef<int64_t> shape);
  /// And of two masks that may lack dimensions, or be absent.
  Ssa both(const Ssa &a, const Ssa &b);
  /// Another number in the padding along some dimensions.
  Ssa fillPadding(const Tile &tile, llvm::ArrayRef<int64_t> dimensions,
                  const Ssa &number);
  /// Zeros behind the elements of a dimension up to an extent.
  Ssa grow(const Ssa &value, int64_t dimension, int64_t extent);
  Ssa shrink(const Ssa &value, int64_t dimension, int64_t extent);
  /// The elements of `value` at indices of `axis`, a tensor of rank 1.
  Ssa take(const Ssa &value, const Ssa &indices, int64_t axis);
  /// Numbers between 0 and extent - 1.
  Ssa clamp(const Ssa &indices, int64_t extent);
  /// A tensor of rank 1 as a dimension among others of extent 1.
  Ssa along(Ssa line, int64_t axis, int64_t rank);
  void unify(llvm::SmallVectorImpl<Ssa> &values);
  Ssa arithmetic(llvm::StringRef name, const Ssa &a, int64_t b);
  Ssa arithmetic(llvm::StringRef name, Ssa a, Ssa b);

  // Elementwise.cpp.
  /// One op of arith or math on operands of one shape.
  mlir::FailureOr<Ssa> emitElementwise(mlir::Operation *op,
                                       llvm::ArrayRef<Ssa> operands);

  std::vector<TtirBuffer> &buffers;
  mlir::func::FuncOp kernel;
  TtirPrinter print;
  TtirKernel result;
  std::string head;
  llvm::DenseMap<mlir::Value, Entry> entries;
  Ssa program;
};

/// Emits an error that names the op.
mlir::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &why);

/// Reports ops that kernels over tiles are not made of.
mlir::LogicalResult checkKernel(mlir::func::FuncOp kernel);

/// Whether a buffer is no memory, but the one tile that is stored to it.
bool isHeldAsTile(mlir::Value buffer);

/// Copies so many elements from one buffer to another, `block` of them by each
/// program.
TtirKernel copyKernel(const std::string &name, llvm::StringRef element,
                      int64_t count, int64_t block,
                      const std::vector<TtirParameter> &parameters,
                      mlir::MLIRContext *context);

} // namespace drawloom::triton

#endif // DRAWLOOM_CODEGEN_TRITON_KERNELEXPORT_H
