//===- Views.h - memory and what is seen of it ------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_VIEWS_H
#define DRAWLOOM_CODEGEN_CPU_VIEWS_H

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace drawloom::cpu {

/// The memory that a view is of, through views of views.
inline mlir::Value wholeOf(mlir::Value memory) {
  while (auto view = memory.getDefiningOp<mlir::ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory;
}

/// Whether two views are certainly of other memory: of other buffers of the
/// program, of other arguments, which calls keep apart, or of other parts of
/// one.
bool areApart(mlir::Value one, mlir::Value other);
/// Whether nothing in `op` reads or writes memory that `memory` may be of.
bool keepsOff(mlir::Operation &op, mlir::Value memory);

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

#endif // DRAWLOOM_CODEGEN_CPU_VIEWS_H
