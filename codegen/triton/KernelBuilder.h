//===- KernelBuilder.h - one scf.forall as one Triton kernel -- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_TRITON_KERNELBUILDER_H
#define DRAWLOOM_CODEGEN_TRITON_KERNELBUILDER_H

#include "codegen/triton/ExportTtir.h"
#include "codegen/triton/HostView.h"
#include "codegen/triton/TtirPrinter.h"
#include "dialects/Block/Block.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <deque>
#include <variant>

namespace drawloom::triton {

/// A value of tensor type in registers: padded to powers of two. What stands in
/// the padding is unspecified unless `zeroPadding`.
struct Tile {
  Ssa value;
  llvm::SmallVector<int64_t> extents;
  bool zeroPadding = false;

  bool isPadded(int64_t dimension) const {
    return value.shape[dimension] != extents[dimension];
  }
};

/// Where views point to: a buffer as blocks see it.
struct Root {
  HostView host;
  /// Of results: what is stored to. The two pointers are equal where the
  /// kernel works in place.
  Ssa readPointer, writePointer;
  bool writable = false;
  /// Counts the states of the memory while the text is printed: only the last
  /// one can still be read.
  int64_t version = 0;
  bool wasRead = false;
  /// Every part is written by the stores at the end.
  bool covered = false;
};

struct ViewDimension {
  /// kDynamic where only `dynamicSize` says it.
  int64_t size = 1;
  int64_t stride = 1;
  Ssa dynamicSize;
};

/// A part of memory: never loaded before it is used.
struct View {
  Root *root = nullptr;
  /// In elements; the second is absent or a scalar i64.
  int64_t offset = 0;
  Ssa dynamicOffset;
  llvm::SmallVector<ViewDimension> dimensions;
  /// The state of the memory that this value names.
  int64_t version = 0;
  /// Loops around the place where that state came to be.
  int64_t loopDepth = 0;
  /// The slice of the root that this is, where it is one directly.
  mlir::Operation *slice = nullptr;
  /// Slices between the root and this.
  int64_t sliceDepth = 0;
  /// Elements are bits, which memory holds in bytes.
  bool isBit = false;

  llvm::SmallVector<int64_t> sizes() const;
};

/// Scalars are an Ssa.
using Entry = std::variant<Ssa, Tile, View>;

/// Prints one kernel. Each function that can refuse emits one error and fails.
class KernelBuilder {
public:
  struct Output {
    HostView initial;
    HostView result;
    /// Initial and result are the same memory.
    bool inPlace = false;
    bool covered = false;
  };

  KernelBuilder(std::vector<TtirBuffer> &buffers,
                const llvm::DenseMap<mlir::Value, HostView> &hostViews,
                mlir::func::FuncOp function, const TtirOptions &options);

  /// An scf.forall and where its results are.
  struct Piece {
    mlir::scf::ForallOp forall;
    std::vector<Output> outputs;
  };

  /// One kernel of pieces that do not depend on each other: each gets as many
  /// programs as it has blocks.
  mlir::FailureOr<TtirKernel> build(llvm::ArrayRef<Piece> pieces,
                                    llvm::StringRef name);

private:
  using Lane = Ssa;

  // Kernel.cpp: regions and control flow.
  mlir::LogicalResult emit(mlir::Operation *op);
  mlir::LogicalResult emitPiece(const Piece &piece, Ssa id);
  mlir::LogicalResult emitFor(mlir::scf::ForOp op);
  mlir::LogicalResult emitIf(mlir::scf::IfOp op);
  mlir::LogicalResult emitWhile(mlir::scf::WhileOp op);
  mlir::LogicalResult emitStores(mlir::scf::ForallOp forall);
  mlir::FailureOr<llvm::SmallVector<Ssa>> yielded(mlir::OperandRange values,
                                                  llvm::ArrayRef<bool> inPlace,
                                                  mlir::Operation *at);
  void bindCarried(mlir::Value value, const std::string &name);
  mlir::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &why);

  // Values.
  void bind(mlir::Value value, Entry entry);
  void closeScope();
  mlir::FailureOr<Entry> entryOf(mlir::Value value, mlir::Operation *user);
  mlir::FailureOr<Ssa> scalarOf(mlir::Value value, mlir::Operation *user);
  /// Loads views.
  mlir::FailureOr<Tile> tileOf(mlir::Value value, mlir::Operation *user);
  mlir::FailureOr<View> viewOf(mlir::Value value, mlir::Operation *user);
  mlir::FailureOr<Ssa> scalarOf(mlir::OpFoldResult value,
                                mlir::Operation *user);
  Ssa pointerTo(int64_t buffer);

  // Memory.cpp: slices, loads, stores.
  mlir::LogicalResult emitExtractSlice(mlir::tensor::ExtractSliceOp op);
  mlir::LogicalResult emitInsertSlice(mlir::tensor::InsertSliceOp op);
  mlir::LogicalResult emitExtract(mlir::tensor::ExtractOp op);
  mlir::LogicalResult emitReshape(mlir::Operation *op);
  /// For each of `count` elements of a group of dimensions in flat order, its
  /// place in the flat order with padding; and the other way round.
  Ssa paddedPlaces(llvm::ArrayRef<int64_t> extents,
                   llvm::ArrayRef<int64_t> group, int64_t count);
  Ssa flatPlaces(llvm::ArrayRef<int64_t> extents,
                 llvm::ArrayRef<int64_t> group);
  mlir::LogicalResult emitGather(block::GatherOp op);
  mlir::LogicalResult emitScatter(block::ScatterOp op);
  mlir::FailureOr<View> sliceOfView(mlir::OffsetSizeAndStrideOpInterface op,
                                    const View &source,
                                    const llvm::SmallBitVector &dropped);
  mlir::FailureOr<Tile> sliceOfTile(mlir::tensor::ExtractSliceOp op,
                                    const Tile &source);
  mlir::FailureOr<Tile> insertIntoTile(mlir::tensor::InsertSliceOp op,
                                       const Tile &source, const Tile &dest);
  mlir::FailureOr<Ssa> readPointer(const View &view, mlir::Operation *user);
  mlir::FailureOr<Tile> load(const View &view, mlir::Operation *user);
  mlir::LogicalResult store(const View &view, const Tile &tile,
                            const Ssa &extraMask, mlir::Operation *user);
  /// Pointers to the elements of a view, row by row of `rows` where that is
  /// given (numbers of rows of dimension 0).
  Ssa elementPointers(const Ssa &base, llvm::ArrayRef<ViewDimension> dimensions,
                      llvm::ArrayRef<int64_t> shape, const Ssa &rows);
  Ssa fromMemory(const Ssa &value, const View &view);
  Ssa baseOf(const View &view, const Ssa &rootPointer);
  mlir::FailureOr<View> write(const View &dest, mlir::Operation *user);
  /// Loads one element, or one for each place of a tile of indices.
  mlir::FailureOr<Ssa> loadElements(const View &view,
                                    llvm::ArrayRef<Ssa> indices,
                                    const Ssa &mask, mlir::Operation *user);

  // Structured.cpp: linalg and scans.
  mlir::LogicalResult emitLinalg(mlir::linalg::LinalgOp op);
  mlir::LogicalResult emitGeneric(mlir::linalg::LinalgOp op);
  mlir::FailureOr<bool> emitContraction(mlir::linalg::LinalgOp op);
  mlir::LogicalResult emitScan(block::ScanOp op);
  mlir::LogicalResult emitSolve(block::SolveTriangularOp op);
  mlir::FailureOr<Lane> operandLane(mlir::linalg::LinalgOp op,
                                    mlir::OpOperand &operand,
                                    llvm::ArrayRef<int64_t> loops);
  mlir::FailureOr<Lane> lanesOf(mlir::AffineExpr expression,
                                llvm::ArrayRef<int64_t> loops,
                                mlir::Operation *op);
  mlir::LogicalResult emitBodyOp(mlir::Operation *op,
                                 llvm::DenseMap<mlir::Value, Lane> &lanes,
                                 llvm::ArrayRef<int64_t> loops);
  mlir::FailureOr<Tile> resultOf(mlir::linalg::LinalgOp op, unsigned result,
                                 llvm::DenseMap<mlir::Value, Lane> &lanes,
                                 llvm::ArrayRef<int64_t> loops);
  /// True inside of the loops' extents; absent where no dimension of `shape`
  /// among `dimensions` is padded.
  Ssa insideMask(llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<int64_t> shape,
                 llvm::ArrayRef<int64_t> dimensions);
  Ssa clearPadding(const Tile &tile, llvm::ArrayRef<int64_t> dimensions);
  /// Zeros behind the elements of a dimension up to an extent.
  Ssa grow(const Ssa &value, int64_t dimension, int64_t extent);
  Ssa shrink(const Ssa &value, int64_t dimension, int64_t extent);
  /// The elements of `value` at indices of `axis`, a tensor of rank 1.
  Ssa take(const Ssa &value, const Ssa &indices, int64_t axis);
  void unify(llvm::SmallVectorImpl<Ssa> &values);

  // Elementwise.cpp.
  /// One op of arith or math on operands of one shape.
  mlir::FailureOr<Ssa> emitElementwise(mlir::Operation *op,
                                       llvm::ArrayRef<Ssa> operands);
  mlir::FailureOr<Ssa> emitAffine(mlir::AffineExpr expression,
                                  llvm::ArrayRef<Ssa> dimensions,
                                  llvm::ArrayRef<Ssa> symbols,
                                  mlir::Operation *op);

  std::vector<TtirBuffer> &buffers;
  const llvm::DenseMap<mlir::Value, HostView> &hostViews;
  mlir::func::FuncOp function;
  TtirPrinter print;
  std::vector<TtirParameter> parameters;
  std::vector<Ssa> parameterNames;
  std::deque<Root> roots;
  llvm::DenseMap<mlir::Value, Entry> entries;
  /// What is bound since each open region began.
  std::vector<llvm::SmallVector<mlir::Value>> scopes;
  mlir::scf::ForallOp forall;
  int64_t loopDepth = 0;
};

} // namespace drawloom::triton

#endif // DRAWLOOM_CODEGEN_TRITON_KERNELBUILDER_H
