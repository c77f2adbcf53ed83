//===- ThreadProgram.h - the program of one thread of a block ---*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LOWER_THREADPROGRAM_H
#define DRAWLOOM_CODEGEN_NVPTX_LOWER_THREADPROGRAM_H

#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/dialect/Tile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include <map>

namespace drawloom::nvptx {

/// The values in a thread's registers that are its share of a tile.
using Registers = llvm::SmallVector<mlir::Value>;

/// Registers [begin, end) of a tile.
struct RegisterRange {
  int64_t begin = 0, end = 0;
};

/// Bits of the thread number, and what each is worth where it is set.
using ThreadBits = llvm::SmallVector<std::pair<int64_t, int64_t>>;

/// In the loop that a long run of ops becomes (RollRuns.cpp): the offset (i64)
/// along a dimension of the group of registers that the loop is at. The
/// dimension is -1 outside of such loops.
struct RolledGroup {
  int64_t dim = -1;
  mlir::Value offset;
};

/// The program of one thread of a block, as far as it is written: where the
/// next op goes, what has become of the values of the kernel, and what is known
/// about the thread. A tile is the list of the values in the thread's
/// registers; any other value is one value of the program. What depends on the
/// thread number alone is computed once, at the start of the program.
class ThreadProgram {
public:
  explicit ThreadProgram(const NvptxLowerTilesOptions &options,
                         mlir::func::FuncOp kernel);

  /// Starts the program in a function's body, behind what is there already.
  void begin(mlir::Block *body);
  /// Ends the program; nothing is written after that.
  void end();

  /// Gives the ops that follow the place of a kernel's op in its source.
  void at(mlir::Operation *op);
  /// Counts an op that was written.
  void count() { ++ops; }
  /// Counts an op, and refuses the kernel if it has too many.
  mlir::LogicalResult countWithinLimit();

  //===- What became of values --------------------------------------------===//
  static bool isTile(mlir::Value value) {
    return llvm::isa<mlir::RankedTensorType>(value.getType());
  }
  /// Returns all registers of a tile.
  static RegisterRange all(mlir::Value tile) {
    return {0, tile::layoutOf(tile.getType())->registerCount()};
  }
  /// Appends what a value of the kernel became: the registers of a tile, or one
  /// value.
  void appendFlat(mlir::Value value, llvm::SmallVectorImpl<mlir::Value> &flat);
  /// Appends the types of what appendFlat appends.
  static void appendFlatTypes(mlir::Value value,
                              llvm::SmallVectorImpl<mlir::Type> &flat);
  /// Notes that a value of the kernel became the values of `flat` from `next`
  /// on, as many as appendFlat appends, and moves `next` behind them.
  void takeFlat(mlir::Value value, mlir::ValueRange flat, size_t &next);

  //===- Numbers ----------------------------------------------------------===//
  mlir::Value constant(int64_t value, unsigned bits);
  mlir::Value index(int64_t value);
  mlir::Value zeroOf(mlir::Type type);
  mlir::Value toI64(mlir::Value value);
  /// Returns, as i32, the sum of the worths of the bits that are set.
  mlir::Value valueOfBits(const ThreadBits &bits);
  /// Returns the same as i64.
  mlir::Value offsetOfBits(const ThreadBits &bits);
  /// Returns the bits of the thread number that digits of `dim` count, each
  /// worth its stride times `scale`.
  static ThreadBits bitsAlong(const tile::Layout &layout, int64_t dim,
                              int64_t scale = 1);
  /// Returns, as i32, the coordinate along `dim` at which the thread's own
  /// elements begin.
  mlir::Value threadCoordinate(const tile::Layout &layout, int64_t dim);

  const NvptxLowerTilesOptions &options;
  mlir::func::FuncOp kernel;
  mlir::ImplicitLocOpBuilder builder;
  /// What became of tiles, and of all other values but memory.
  llvm::DenseMap<mlir::Value, Registers> registers;
  mlir::IRMapping scalars;
  /// The number of the thread in its block (i32).
  mlir::Value thread;
  RolledGroup rolled;

private:
  int64_t ops = 0;
  std::map<ThreadBits, mlir::Value> bitValues;
  /// What depends on the thread number alone goes in front of this op.
  mlir::Operation *prologueEnd = nullptr;
};

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LOWER_THREADPROGRAM_H
