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

/// Registers of a tile that ops on tiles of one layout are written for at once:
/// whole vectors of memory.
constexpr int64_t partRegisters = 8;

/// How many elements of a part of a run go through its arithmetic at once: all,
/// or as few as their values have registers for.
int64_t stepOfRun(llvm::ArrayRef<mlir::Operation *> run, int64_t part);

/// Writes what each thread of a block does: a tile is the list of the values
/// in its registers.
class LowerKernel {
public:
  LowerKernel(mlir::func::FuncOp kernel, int64_t maxOps, bool describes,
              bool splitWords, bool storesMatrices)
      : kernel(kernel), builder(kernel.getContext()), maxOps(maxOps),
        describes(describes), splitWords(splitWords),
        storesMatrices(storesMatrices) {}

  /// Puts a function of llvm in the kernel's place, whose body still has
  /// control flow of scf and arithmetic of arith and math.
  mlir::LogicalResult run();

private:
  using Registers = llvm::SmallVector<mlir::Value>;

  /// A view of memory, as an address and how elements lie behind it.
  struct Memory {
    mlir::Value root;   ///< Of the whole buffer.
    mlir::Value offset; ///< Elements (i64) from the root on; null is 0.
    llvm::SmallVector<int64_t> strides;
    llvm::SmallVector<mlir::OpFoldResult> sizes;
    mlir::Type element;
    int64_t space = 1;
    /// A divisor of the address of the view, in bytes.
    int64_t alignment = 16;
    /// Bytes: of the whole buffer, which begins that many behind the root; of
    /// the part of `offset` that is known by number; and what divides the rest
    /// of it, 0 where there is no rest.
    int64_t bytes = 0, start = 0, fixed = 0, step = 0;
  };

  /// Of a product with several parts: how many rows of the result a part has,
  /// and of the right operand's buffer. No rows if there is one product.
  struct Batch {
    int64_t rows = 0, step = 0;
    /// Rows of the buffer that a digit of the result's threads is worth.
    int64_t partOf(const tile::Digit &digit) const {
      return rows && digit.dim == 0 ? digit.stride / rows * step : 0;
    }
  };

  /// One access to neighbouring elements of a tile: its registers, and where it
  /// is relative to the thread's own address.
  struct Access {
    llvm::SmallVector<int64_t> registers;
    llvm::SmallVector<int64_t> coordinates;
  };

  static bool isTile(mlir::Value value) {
    return llvm::isa<mlir::RankedTensorType>(value.getType());
  }
  /// Where an op was written: debug information wants one place.
  static mlir::Location placeOf(mlir::Location loc);

  /// Registers [begin, end) of a tile.
  struct Range {
    int64_t begin = 0, end = 0;
  };
  Range all(mlir::Value tile) {
    return {0, tile::layoutOf(tile.getType())->registerCount()};
  }

  //===- Runs -------------------------------------------------------------===//
  // Ops on tiles of one layout are written a few registers at a time, all ops
  // for the first of them, then all for the next: what is alive between two ops
  // is not a whole tile.

  /// Lowers the run that starts at `op`, if there is one: the op behind it,
  /// otherwise null.
  mlir::FailureOr<mlir::Operation *> lowerRun(mlir::Operation *op);
  bool joinsRun(mlir::Operation *op, const tile::Layout &layout);
  void lowerPart(mlir::Operation *op, Range range);
  /// Lowers a run that would be very long as a loop over groups of registers.
  /// False, with a remark, where it cannot be one.
  bool rollRun(llvm::ArrayRef<mlir::Operation *> run,
               const tile::Layout &layout);
  /// What keeps a run from being a loop over registers that differ along `dim`,
  /// `inner` of them in a group; nothing if it can be one.
  std::optional<std::string> whyUnrolled(llvm::ArrayRef<mlir::Operation *> run,
                                         int64_t dim, int64_t inner);
  /// Inside of such a loop: how far along a dimension (i64) the group is that
  /// it is at.
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
  /// Rounding to 16 bits two registers at a time, with the maximum with zero
  /// that may follow. False where the op is something else.
  bool lowerRounding(mlir::Operation *op, Range range);
  /// Keeping 16-bit numbers where others are not zero, by masks of bits. False
  /// where the op is something else.
  bool lowerMask(mlir::Operation *op, Range range);
  /// bf16 made f32, two registers that one word was loaded into at a time.
  bool lowerExtension(mlir::Operation *op, Range range);
  void lowerNumber(mlir::memref::LoadOp op);
  mlir::LogicalResult lowerExtent(mlir::memref::DimOp op);
  /// Memory, and other views of it.
  mlir::LogicalResult lowerView(mlir::Operation *op);
  Memory shared(tile::AllocOp op);
  mlir::FailureOr<Memory> part(Memory memory, mlir::memref::SubViewOp op);
  Memory collapsed(Memory memory, mlir::memref::CollapseShapeOp op);
  static Memory expanded(Memory memory, mlir::memref::ExpandShapeOp op);
  /// Moves the memory's start by `count` strides.
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
  /// Whether the access is inside; null where it always is.
  mlir::Value inside(const Memory &memory, const tile::Layout &layout,
                     llvm::ArrayRef<int64_t> shape, const Access &access);
  /// True in the one of the threads with the same elements that stores them;
  /// null where all are different.
  mlir::Value isOwner(const tile::Layout &layout);
  /// The thread's address in a view, from dimension `first` on.
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
  /// What a loop or an index adds to an address, in bytes: multiples of `step`
  /// up to `range`.
  struct Moving {
    int64_t step = 0, range = 0;
  };
  /// The attribute `elementAttr` of an access: the coordinates of its first
  /// element in the view for thread 0, what each bit of the thread number adds
  /// to them and, of matrices, what a half and each bit of a word's number add.
  /// Null where nobody wants it.
  mlir::DictionaryAttr describe(const Memory &memory,
                                llvm::ArrayRef<int64_t> coordinates,
                                llvm::ArrayRef<tile::Digit> threads,
                                Moving moving = {0, 0},
                                llvm::ArrayRef<tile::Digit> registers = {});
  /// Of rows that an index chooses.
  mlir::DictionaryAttr describeRow(const Memory &memory,
                                   const tile::Layout &layout,
                                   const Access &access);
  /// Of a fragment of mma.m16n8k16, whose groups of lanes count along dimension
  /// `across` and lanes of a group along the other, in pairs; the digits of
  /// `sums` along its dimension `own` say where the warps are. `registers` are
  /// pairs of a dimension and a stride: of a half, and of bits of the word.
  mlir::DictionaryAttr
  describeFragment(const Memory &memory, int64_t across, int64_t first,
                   int64_t step, const tile::Layout &sums, int64_t own,
                   llvm::ArrayRef<std::pair<int64_t, int64_t>> registers,
                   Batch batch);
  /// Of any element.
  mlir::DictionaryAttr describeAny(const Memory &memory);
  /// A digit for each bit of the thread number; those of dimensions below
  /// `first` count nothing.
  static llvm::SmallVector<tile::Digit> threadDigits(const tile::Layout &layout,
                                                     int64_t first = 0);

  //===- Reductions and products ------------------------------------------===//
  void lowerReduce(tile::ReduceOp op, Range range);
  void reduceAcrossLanes(tile::ReduceOp op);
  /// The sum that a loop carries and that takes up this reduction, if it takes
  /// it up at once.
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
  /// The value of lane `other` (i32); `kind` says how `other` is meant.
  mlir::Value exchange(mlir::Value value, mlir::Value other,
                       mlir::NVVM::ShflKind kind);

  mlir::LogicalResult lowerDot(tile::DotOp op);
  void lowerMma(tile::DotOp op);
  mlir::Value before(tile::ScanOp op, const tile::Layout::Runs &runs,
                     mlir::Value sum);
  void shareOut(tile::Layout &layout, Registers &values, int64_t rank);
  void lowerTf32(tile::DotOp op);
  void lowerOuterProducts(tile::DotOp op);
  /// Stores what the registers of `range` have of a tile in the layout of
  /// fragments; false where that is not one, or not for stmatrix.
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
  /// i32: what the bits of the thread number that the digits of `dim` count are
  /// worth, as if each digit had its own stride.
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
  /// Make two f32 of a word of bf16 at once.
  bool splitWords;
  /// There is stmatrix.
  bool storesMatrices;
  int64_t ops = 0;
  llvm::DenseMap<mlir::Value, Registers> registers;
  /// Tiles whose rounding waits for the op that reads them: these registers are
  /// still wide.
  llvm::DenseSet<mlir::Value> unrounded;
  mlir::IRMapping scalars;
  std::map<const void *, Memory> memories;
  mlir::Value thread;
  /// What depends on the thread number only, at the start of the kernel.
  std::map<llvm::SmallVector<std::pair<int64_t, int64_t>>, mlir::Value>
      bitValues;
  mlir::Operation *prologueEnd = nullptr;
};

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERKERNEL_H
