//===- LowerKernel.h - a kernel over tiles as one thread's program --------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERKERNEL_H
#define DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERKERNEL_H

#include "codegen/nvptx/tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include <map>

namespace drawloom::nvptx {

/// Number of registers of a tile for which a run of ops of one layout is
/// lowered at a time: whole vectors of memory.
constexpr int64_t partRegisters = 8;

/// Returns how many elements of a part of a run go through its arithmetic at
/// once: all, or as few as there are registers for.
int64_t stepOfRun(llvm::ArrayRef<mlir::Operation *> run, int64_t part);

/// Lowers a kernel to the work of one thread of a block: a tile is the list of
/// the values in the thread's registers.
class LowerKernel {
public:
  LowerKernel(mlir::func::FuncOp kernel, int64_t maxOps, bool describes,
              bool splitWords, bool storesMatrices)
      : kernel(kernel), builder(kernel.getContext()), maxOps(maxOps),
        describes(describes), splitWords(splitWords),
        storesMatrices(storesMatrices) {}

  /// Replaces the kernel by a function of llvm, whose body still has control
  /// flow of scf and arithmetic of arith and math.
  mlir::LogicalResult run();

private:
  using Registers = llvm::SmallVector<mlir::Value>;

  /// A view of memory: an address, and the strides and sizes of the elements
  /// behind it.
  struct Memory {
    mlir::Value root;   ///< Start of the whole buffer.
    mlir::Value offset; ///< Elements (i64) from the root on; null is 0.
    llvm::SmallVector<int64_t> strides;
    llvm::SmallVector<mlir::OpFoldResult> sizes;
    mlir::Type element;
    int64_t space = 1;
    /// A divisor of the address of the view, in bytes.
    int64_t alignment = 16;
    /// Bytes of the whole buffer; distance of its start from the root; the
    /// static part of `offset`; and a divisor of the dynamic part, 0 if there
    /// is none.
    int64_t bytes = 0, start = 0, fixed = 0, step = 0;
  };

  /// The parts of a product with several parts: rows of the result per part,
  /// and rows of the right operand's buffer per part. 0 rows if there is only
  /// one product.
  struct Batch {
    int64_t rows = 0, step = 0;
    /// Returns the rows of the buffer that a digit of the result's threads is
    /// worth.
    int64_t partOf(const tile::Digit &digit) const {
      return rows && digit.dim == 0 ? digit.stride / rows * step : 0;
    }
  };

  /// One access to neighbouring elements of a tile: its registers, and its
  /// coordinates relative to the thread's own address.
  struct Access {
    llvm::SmallVector<int64_t> registers;
    llvm::SmallVector<int64_t> coordinates;
  };

  static bool isTile(mlir::Value value) {
    return llvm::isa<mlir::RankedTensorType>(value.getType());
  }
  /// Returns the source location of an op as a single place, as debug
  /// information requires.
  static mlir::Location placeOf(mlir::Location loc);

  /// Registers [begin, end) of a tile.
  struct Range {
    int64_t begin = 0, end = 0;
  };
  Range all(mlir::Value tile) {
    return {0, tile::layoutOf(tile.getType())->registerCount()};
  }

  //===- Runs -------------------------------------------------------------===//
  // Ops on tiles of one layout are lowered a few registers at a time, all ops
  // for the first registers, then all ops for the next: values live between two
  // ops are then less than a whole tile.

  /// Lowers the run that starts at `op`, if there is one, and returns the op
  /// after it; returns null otherwise.
  mlir::FailureOr<mlir::Operation *> lowerRun(mlir::Operation *op);
  bool joinsRun(mlir::Operation *op, const tile::Layout &layout);
  void lowerPart(mlir::Operation *op, Range range);
  /// Lowers a run that would be very long as a loop over groups of registers.
  /// Returns false, with a remark, if that is impossible.
  bool rollRun(llvm::ArrayRef<mlir::Operation *> run,
               const tile::Layout &layout);
  /// Explains why a run cannot be a loop over registers that differ along
  /// `dim`, with `inner` of them per group; nothing if it can.
  std::optional<std::string> whyUnrolled(llvm::ArrayRef<mlir::Operation *> run,
                                         int64_t dim, int64_t inner);
  /// In the body of a rolled run: the offset (i64) of the current group along a
  /// dimension.
  struct Rolled {
    int64_t dim = -1;
    mlir::Value offset;
  };
  Rolled rolled;

  //===- Control flow and scalars -----------------------------------------===//
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult refuseSize();
  mlir::LogicalResult lower(mlir::Operation *op);
  mlir::Value inI32(mlir::Value index);
  mlir::LogicalResult lowerFor(mlir::scf::ForOp op);
  mlir::LogicalResult lowerIf(mlir::scf::IfOp op);
  void lowerElementwise(mlir::Operation *op, Range range);
  /// Lowers a rounding to 16 bits two registers at a time, including a
  /// following maximum with zero. Returns false if the op is anything else.
  bool lowerRounding(mlir::Operation *op, Range range);
  /// Lowers a select that keeps 16-bit numbers where others are nonzero, by bit
  /// masks. Returns false if the op is anything else.
  bool lowerMask(mlir::Operation *op, Range range);
  /// Lowers an extension of bf16 to f32, two registers loaded in one word at a
  /// time.
  bool lowerExtension(mlir::Operation *op, Range range);
  void lowerNumber(mlir::memref::LoadOp op);
  mlir::LogicalResult lowerExtent(mlir::memref::DimOp op);
  /// Lowers buffers and views of them.
  mlir::LogicalResult lowerView(mlir::Operation *op);
  Memory shared(tile::AllocOp op);
  mlir::FailureOr<Memory> part(Memory memory, mlir::memref::SubViewOp op);
  Memory collapsed(Memory memory, mlir::memref::CollapseShapeOp op);
  static Memory expanded(Memory memory, mlir::memref::ExpandShapeOp op);
  /// Advances the memory's start by `count` strides.
  void addOffset(Memory &memory, mlir::OpFoldResult count, int64_t stride);
  void appendFlat(mlir::Value value, llvm::SmallVectorImpl<mlir::Value> &flat);
  void appendFlatTypes(mlir::Value value,
                       llvm::SmallVectorImpl<mlir::Type> &flat);
  void takeFlat(mlir::Value value, mlir::ValueRange flat, size_t &next);

  //===- Registers --------------------------------------------------------===//
  void lowerSplat(tile::SplatOp op, Range range);
  void lowerIota(tile::IotaOp op, Range range);
  void lowerBroadcast(tile::BroadcastOp op, Range range);
  void lowerConvert(tile::ConvertOp op);
  void lowerReshape(tile::ReshapeOp op);
  void lowerSlice(tile::SliceOp op);

  //===- Memory -----------------------------------------------------------===//
  void lowerLoad(tile::LoadOp op, Range range);
  void lowerStore(tile::StoreOp op, Range range);
  void lowerCopy(tile::CopyAsyncOp op);
  mlir::LogicalResult lowerGather(tile::GatherOp op);
  mlir::LogicalResult lowerScatter(tile::ScatterOp op);
  mlir::LogicalResult lowerLookup(tile::LookupOp op);
  llvm::SmallVector<Access> accesses(const Memory &memory,
                                     const tile::Layout &layout,
                                     llvm::ArrayRef<int64_t> shape,
                                     bool rowsApart, Range range);
  /// Returns whether the access is in bounds; null if it always is.
  mlir::Value inside(const Memory &memory, const tile::Layout &layout,
                     llvm::ArrayRef<int64_t> shape, const Access &access);
  /// Returns true in the one thread, of those holding the same elements, that
  /// stores them; null if all threads hold different elements.
  mlir::Value isOwner(const tile::Layout &layout);
  /// Returns the thread's address in a view, taking into account the dimensions
  /// from `first` on.
  mlir::Value threadAddress(const Memory &memory, const tile::Layout &layout,
                            int64_t first = 0);
  mlir::Value rolledAddress(const Memory &memory, mlir::Value address);
  mlir::Value addBytes(mlir::Value address, int64_t bytes);
  mlir::Value addElements(mlir::Value address, mlir::Value elements,
                          mlir::Type element);
  mlir::Value loadVector(mlir::Value address, mlir::Type element, int64_t count,
                         mlir::Value condition, mlir::Value otherwise,
                         mlir::DictionaryAttr place = {});
  mlir::Value loadVectorIf(mlir::Value condition, mlir::Value address,
                           mlir::Type element, int64_t count,
                           mlir::DictionaryAttr place);
  void unpack(mlir::Value vector, mlir::Type element, int64_t count,
              llvm::SmallVectorImpl<mlir::Value> &values);
  void storeVector(mlir::Value address, llvm::ArrayRef<mlir::Value> values,
                   mlir::DictionaryAttr place = {});
  void underCondition(mlir::Value condition, llvm::function_ref<void()> body);
  const Memory &memoryOf(mlir::Value memref) {
    return memories.at(memref.getAsOpaquePointer());
  }

  //===- What accesses are meant to be ------------------------------------===//
  /// The bytes that a loop or an index adds to an address: multiples of `step`
  /// up to `range`.
  struct Moving {
    int64_t step = 0, range = 0;
  };
  /// Returns the attribute `elementAttr` of an access: the coordinates of its
  /// first element in the view for thread 0, what each bit of the thread number
  /// adds to them and, for matrices, what a half and each bit of a word's
  /// number add. Null if accesses are not described.
  mlir::DictionaryAttr describe(const Memory &memory,
                                llvm::ArrayRef<int64_t> coordinates,
                                llvm::ArrayRef<tile::Digit> threads,
                                Moving moving = {0, 0},
                                llvm::ArrayRef<tile::Digit> registers = {});
  /// Describes an access to rows selected by an index.
  mlir::DictionaryAttr describeRow(const Memory &memory,
                                   const tile::Layout &layout,
                                   const Access &access);
  /// Describes an access to a fragment of mma.m16n8k16. Groups of lanes count
  /// along dimension `across`, and the lanes of a group along the other
  /// dimension, in pairs; the digits of `sums` along its dimension `own` give
  /// the positions of the warps. `registers` are pairs of a dimension and a
  /// stride: for a half, and for bits of the word.
  mlir::DictionaryAttr
  describeFragment(const Memory &memory, int64_t across, int64_t first,
                   int64_t step, const tile::Layout &sums, int64_t own,
                   llvm::ArrayRef<std::pair<int64_t, int64_t>> registers,
                   Batch batch);
  /// Describes an access that may go to any element.
  mlir::DictionaryAttr describeAny(const Memory &memory);
  /// Returns a digit for each bit of the thread number; those of dimensions
  /// below `first` are worth nothing.
  static llvm::SmallVector<tile::Digit> threadDigits(const tile::Layout &layout,
                                                     int64_t first = 0);

  //===- Reductions and products ------------------------------------------===//
  void lowerReduce(tile::ReduceOp op, Range range);
  void reduceAcrossLanes(tile::ReduceOp op);
  /// Returns the loop-carried sum that this reduction is immediately added to,
  /// if there is one.
  static mlir::Value carriedSum(tile::ReduceOp op);
  mlir::LogicalResult lowerScan(tile::ScanOp op);
  mlir::LogicalResult lowerSolve(tile::SolveOp op);
  void solveInThreads(tile::SolveOp op, const tile::Layout &layout,
                      Registers &values);
  void solveAcrossLanes(tile::SolveOp op, const tile::Layout &layout,
                        Registers &values);
  void reduceAcrossWarps(tile::ReduceOp op, const tile::Layout &source,
                         Registers &results);
  mlir::Value combine(tile::Combiner kind, mlir::Value a, mlir::Value b);
  mlir::Value neutral(tile::Combiner kind, mlir::Type type);
  mlir::Value shuffle(mlir::Value value, int64_t mask);
  /// Returns the value of lane `other` (i32); `kind` determines how `other` is
  /// interpreted.
  mlir::Value exchange(mlir::Value value, mlir::Value other,
                       mlir::NVVM::ShflKind kind);

  mlir::LogicalResult lowerDot(tile::DotOp op);
  class Mma;
  class OuterProducts;
  void lowerMma(tile::DotOp op);
  mlir::Value before(tile::ScanOp op, const tile::Layout::Runs &runs,
                     mlir::Value sum);
  void shareOut(tile::Layout &layout, Registers &values, int64_t rank);
  void lowerTf32(tile::DotOp op);
  void lowerOuterProducts(tile::DotOp op);
  /// Stores the registers in `range` of a tile in fragment layout by stmatrix;
  /// returns false if the layout or stmatrix does not permit that.
  bool storeMatrices(const Memory &memory, const tile::Layout &layout,
                     llvm::ArrayRef<int64_t> shape, const Registers &source,
                     Range range);
  Registers loadMatrices(mlir::Value address, int64_t bytes, int64_t count,
                         bool transposed, mlir::DictionaryAttr element);
  mlir::Value matrixAddress(const Memory &memory, bool transposed,
                            llvm::ArrayRef<tile::Digit> rowDigits,
                            llvm::ArrayRef<tile::Digit> columnDigits,
                            mlir::Value rows, mlir::Value columns);

  //===- Numbers ----------------------------------------------------------===//
  mlir::Value constant(int64_t value, unsigned bits);
  mlir::Value zeroOf(mlir::Type type);
  /// Returns, as i32, the sum of the worths of those bits of the thread number
  /// that digits of `dim` count, as if each digit had its own stride.
  mlir::Value threadCoordinate(const tile::Layout &layout, int64_t dim);
  mlir::Value valueOfBits(llvm::ArrayRef<std::pair<int64_t, int64_t>> bits);
  mlir::Value toI64(mlir::Value value);
  mlir::Type storageType(mlir::Type element);
  static int64_t bytesOf(mlir::Type element);
  static int64_t divisorOf(mlir::Value value);

  mlir::func::FuncOp kernel;
  mlir::LLVM::LLVMFuncOp function;
  mlir::OpBuilder builder;
  mlir::Location loc = builder.getUnknownLoc();
  int64_t maxOps;
  bool describes;
  /// Whether a word of bf16 is converted to two f32 at once.
  bool splitWords;
  /// Whether stmatrix is available.
  bool storesMatrices;
  int64_t ops = 0;
  llvm::DenseMap<mlir::Value, Registers> registers;
  /// Tiles whose rounding is deferred to the op that reads them: their
  /// registers are still wide.
  llvm::DenseSet<mlir::Value> unrounded;
  mlir::IRMapping scalars;
  std::map<const void *, Memory> memories;
  mlir::Value thread;
  /// Values at the start of the kernel that depend on the thread number only.
  std::map<llvm::SmallVector<std::pair<int64_t, int64_t>>, mlir::Value>
      bitValues;
  mlir::Operation *prologueEnd = nullptr;
};

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERKERNEL_H
