//===- Views.h - what a view is of ------------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_CPU_VIEWS_H
#define DRAWLOOM_CODEGEN_CPU_VIEWS_H

#include "mlir/Interfaces/ViewLikeInterface.h"

namespace drawloom::cpu {

/// The memory that a view is of, through views of views.
inline mlir::Value wholeOf(mlir::Value memory) {
  while (auto view = memory.getDefiningOp<mlir::ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory;
}

} // namespace drawloom::cpu

#endif // DRAWLOOM_CODEGEN_CPU_VIEWS_H
