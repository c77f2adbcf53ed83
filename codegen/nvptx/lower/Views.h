//===- Views.h - buffers and views of them ----------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LOWER_VIEWS_H
#define DRAWLOOM_CODEGEN_NVPTX_LOWER_VIEWS_H

#include "codegen/nvptx/lower/Accesses.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace drawloom::nvptx {

/// The memory that a kernel knows: its arguments, its buffers in shared memory,
/// and the views of both. A view is the buffer that it is of with another
/// offset, other strides and other sizes: no op accesses memory here.
class Views {
public:
  explicit Views(ThreadProgram &program)
      : program(program), builder(program.builder), accesses(program) {}

  const Memory &memoryOf(mlir::Value memref) const {
    return memories.at(memref.getAsOpaquePointer());
  }
  /// Notes the memory of an argument of the kernel, which `root` points to; the
  /// extents that are open are numbers among `arguments`.
  mlir::LogicalResult addArgument(mlir::BlockArgument argument,
                                  mlir::Value root,
                                  mlir::Block::BlockArgListType arguments);
  /// Lowers an op that makes a buffer or a view.
  mlir::LogicalResult lower(mlir::Operation *op);
  mlir::LogicalResult lowerExtent(mlir::memref::DimOp op);

private:
  Memory shared(tile::AllocOp op);
  mlir::FailureOr<Memory> part(Memory memory, mlir::memref::SubViewOp op);
  Memory collapsed(Memory memory, mlir::memref::CollapseShapeOp op);
  static Memory expanded(Memory memory, mlir::memref::ExpandShapeOp op);
  /// Advances the memory's start by `count` strides.
  void addOffset(Memory &memory, mlir::OpFoldResult count, int64_t stride);

  ThreadProgram &program;
  mlir::ImplicitLocOpBuilder &builder;
  Accesses accesses;
  std::map<const void *, Memory> memories;
};

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LOWER_VIEWS_H
