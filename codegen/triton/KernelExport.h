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

/// A value of tensor type in registers, padded to powers of two. The contents
/// of the padding are unspecified unless `zeroPadding`.
struct Tile {
  Ssa value;
  llvm::SmallVector<int64_t> extents;
  bool zeroPadding = false;
};

/// An integer of which a part is known statically.
struct Offset {
  int64_t number = 0;
  Ssa more;
};

struct Dimension {
  /// kDynamic if only `dynamicSize` gives it.
  int64_t size = 1;
  /// In elements; for a part of a tile, in steps along `axis`.
  int64_t stride = 1;
  Ssa dynamicSize;
  int64_t axis = 0;
};

/// The meaning of a memref: a part of memory, or, for a buffer that would only
/// hold a single tile, a part of that tile.
struct View {
  Ssa pointer;
  std::optional<Tile> tile;
  /// One offset; for a part of a tile, one for each of its dimensions.
  llvm::SmallVector<Offset> offsets;
  llvm::SmallVector<Dimension> dimensions;
  /// Whether elements are bits, which memory holds in bytes.
  bool isBit = false;
};

/// A scalar is an Ssa.
using Entry = std::variant<Ssa, Tile, View>;

/// Prints one kernel. Each function that can refuse emits one error and fails.
class KernelExport {
public:
  KernelExport(std::vector<TtirBuffer> &buffers, mlir::func::FuncOp kernel,
               const TtirOptions &options)
      : buffers(buffers), kernel(kernel),
        print(kernel.getContext(), options.dotPrecision) {}

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
  /// Returns pointers to the elements of a view; if `rows` is given, its
  /// numbers select the rows of dimension 0.
  Ssa elementPointers(const View &view, llvm::ArrayRef<int64_t> shape,
                      const Ssa &rows);
  /// Returns the mask of elements that are within the extents, and within those
  /// of the view.
  Ssa accessMask(const View &view, llvm::ArrayRef<int64_t> extents,
                 llvm::ArrayRef<int64_t> shape);
  Ssa rowMask(const Ssa &rows, llvm::ArrayRef<int64_t> extents,
              llvm::ArrayRef<int64_t> shape);
  Ssa fromMemory(const Ssa &value, const View &view);

  // Shapes.cpp: ops that combine or move the elements of a tile.
  void emitBroadcast(tile::BroadcastOp op);
  void emitReduce(tile::ReduceOp op);
  void emitScan(tile::ScanOp op);
  void emitDot(tile::DotOp op);
  void emitSolve(tile::SolveOp op);
  Tile reshape(const Tile &tile, llvm::ArrayRef<int64_t> extents);
  /// Returns the mask of elements that are within the extents along some
  /// dimensions; absent if none of these is padded.
  Ssa insideMask(llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<int64_t> shape,
                 llvm::ArrayRef<int64_t> dimensions);
  Ssa below(const Ssa &limit, int64_t dimension, llvm::ArrayRef<int64_t> shape);
  /// Returns the conjunction of two masks that may lack dimensions, or be
  /// absent.
  Ssa both(const Ssa &a, const Ssa &b);
  /// Replaces the contents of the padding along some dimensions.
  Ssa fillPadding(const Tile &tile, llvm::ArrayRef<int64_t> dimensions,
                  const Ssa &number);
  /// Appends zeros to a dimension up to an extent.
  Ssa grow(const Ssa &value, int64_t dimension, int64_t extent);
  Ssa shrink(const Ssa &value, int64_t dimension, int64_t extent);
  /// Returns the elements of `value` at indices of `axis`, a tensor of rank 1.
  Ssa take(const Ssa &value, const Ssa &indices, int64_t axis);
  /// Clamps indices to the range from 0 to extent - 1.
  Ssa clamp(const Ssa &indices, int64_t extent);
  /// Reshapes a tensor of rank 1 to one dimension among others of extent 1.
  Ssa along(Ssa line, int64_t axis, int64_t rank);
  void unify(llvm::SmallVectorImpl<Ssa> &values);
  Ssa arithmetic(llvm::StringRef name, const Ssa &a, int64_t b);
  Ssa arithmetic(llvm::StringRef name, Ssa a, Ssa b);

  // Elementwise.cpp.
  /// Prints one op of arith or math on operands of one shape.
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
