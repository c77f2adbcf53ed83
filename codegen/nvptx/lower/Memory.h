//===- Memory.h - a view of memory ------------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_NVPTX_LOWER_MEMORY_H
#define DRAWLOOM_CODEGEN_NVPTX_LOWER_MEMORY_H

#include "mlir/IR/OpDefinition.h"

namespace drawloom::nvptx {

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
  /// Bytes of the whole buffer; distance of its start from the root; the static
  /// part of `offset`; and a divisor of the dynamic part, 0 if there is none.
  int64_t bytes = 0, start = 0, fixed = 0, step = 0;
};

/// Returns the bytes that an element takes in memory.
int64_t elementBytes(mlir::Type element);
/// Returns the type that an element has in memory.
mlir::Type storageType(mlir::Type element);

} // namespace drawloom::nvptx

#endif // DRAWLOOM_CODEGEN_NVPTX_LOWER_MEMORY_H
