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

/// The memory that a view is of, through views of views.
inline mlir::Value wholeOf(mlir::Value memory) {
  while (auto view = memory.getDefiningOp<mlir::ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory;
}

/// Where a program chooses between two memories by an scf.if, what it has
/// chosen between.
std::optional<std::pair<mlir::Value, mlir::Value>> choiceOf(mlir::Value memory);
/// `memory`, or what a program has chosen it from.
llvm::SmallVector<mlir::Value> choicesOf(mlir::Value memory);

/// Whether two views certainly share no byte. Calls keep arguments apart.
bool areApart(mlir::Value one, mlir::Value other);

/// The views that an op and what is nested in it read and write.
struct Accesses {
  llvm::SmallVector<mlir::Value> read, written;
};
/// None if there is an op of which it is not known.
std::optional<Accesses> accessesOf(mlir::Operation *op);
/// Whether nothing in `op` writes, nor, unless it may be read, reads `memory`.
bool leavesAlone(mlir::Operation *op, mlir::Value memory, bool maybeRead);

/// Functions take a pointer, which tells no extents: of memory with open ones
/// only the place is handed over, as a buffer of one element.
mlir::MemRefType placeType(mlir::Type element);
mlir::Value placeOf(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value memory);
/// Whether `op` is placeOf() of a buffer with open extents.
bool isPlace(mlir::Operation *op);
/// The dense row-major buffer there, whose open extents are `open`.
mlir::Value denseView(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value place, llvm::ArrayRef<int64_t> shape,
                      mlir::ValueRange open);

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_BUFFERS_VIEWS_H
