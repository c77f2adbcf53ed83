//===- Views.h - memory and what is seen of it ------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_BUFFERS_VIEWS_H
#define DRAWLOOM_CODEGEN_CPU_BUFFERS_VIEWS_H

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace drawloom::cpu {

/// Returns the memory that a view, or a view of views, refers to.
inline mlir::Value wholeOf(mlir::Value memory) {
  while (auto view = memory.getDefiningOp<mlir::ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory;
}

/// If an scf.if selects between two memories, returns both.
std::optional<std::pair<mlir::Value, mlir::Value>> choiceOf(mlir::Value memory);
/// Returns `memory`, or the memories that it may be selected from.
llvm::SmallVector<mlir::Value> choicesOf(mlir::Value memory);

/// Returns whether two views certainly share no byte. Calls keep arguments
/// disjoint.
bool areApart(mlir::Value one, mlir::Value other);

/// The views that an op and its nested ops read and write.
struct Accesses {
  llvm::SmallVector<mlir::Value> read, written;
};
/// Returns nothing if the accesses of some op are unknown.
std::optional<Accesses> accessesOf(mlir::Operation *op);
/// Returns whether nothing in `op` writes `memory` or, unless `maybeRead`,
/// reads it.
bool leavesAlone(mlir::Operation *op, mlir::Value memory, bool maybeRead);

/// Returns the type by which memory with open extents is passed to functions: a
/// buffer of one element, since functions take a pointer, which carries no
/// extents.
mlir::MemRefType placeType(mlir::Type element);
mlir::Value placeOf(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value memory);
/// Returns whether `op` is the placeOf() of a buffer with open extents.
bool isPlace(mlir::Operation *op);
/// Returns the dense row-major buffer at a place, with the open extents `open`.
mlir::Value denseView(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value place, llvm::ArrayRef<int64_t> shape,
                      mlir::ValueRange open);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_BUFFERS_VIEWS_H
