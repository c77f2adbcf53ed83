//===- LowerMemory.h - tiles from and to memory -----------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERMEMORY_H
#define DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERMEMORY_H

#include "codegen/nvptx/lower/Matrices.h"
#include "codegen/nvptx/lower/Views.h"

namespace drawloom::nvptx {

/// Lowers the ops that move tiles, or single numbers, between registers and
/// memory. Each access is as wide as layout and memory permit; elements beyond
/// the end of a view read as zeros and are not stored.
class LowerMemory {
public:
  LowerMemory(ThreadProgram &program, const Views &views)
      : program(program), builder(program.builder), views(views),
        accesses(program), descriptions(program), matrices(program) {}

  void lowerLoad(tile::LoadOp op, RegisterRange range);
  void lowerStore(tile::StoreOp op, RegisterRange range);
  void lowerCopy(tile::CopyAsyncOp op);
  void lowerGather(tile::GatherOp op);
  void lowerScatter(tile::ScatterOp op);
  void lowerLookup(tile::LookupOp op);
  /// Lowers a load of a single number.
  void lowerNumber(mlir::memref::LoadOp op);

private:
  /// Lets threads that hold the same elements store a part of them each: takes
  /// the other parts out of the layout and the values.
  void shareOut(tile::Layout &layout, Registers &values, int64_t rank);
  /// One access of a copy: where it reads, whether that exists (null if it
  /// does), what it reads otherwise, and where it writes.
  struct Piece {
    mlir::Value from, exists, otherwise, to;
    mlir::DictionaryAttr read, written;
    mlir::Type element;
    int64_t count;
  };
  void copyPiece(const Piece &piece);
  /// Returns the address of an access in the row that an index chooses; the
  /// thread's address in row 0 is given.
  mlir::Value addressInRow(const Memory &memory, mlir::Value address,
                           mlir::Value index, const Access &access);

  ThreadProgram &program;
  mlir::ImplicitLocOpBuilder &builder;
  const Views &views;
  Accesses accesses;
  DescribeAccess descriptions;
  Matrices matrices;
};

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LOWER_LOWERMEMORY_H
