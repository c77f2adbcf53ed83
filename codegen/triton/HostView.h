//===- HostView.h - tensors between kernels, as memory -------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_CODEGEN_TRITON_HOSTVIEW_H
#define DRAWLOOM_CODEGEN_TRITON_HOSTVIEW_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace drawloom::triton {

/// What a tensor outside of kernels is: a strided part of a buffer, one number
/// everywhere, or nothing in particular (tensor.empty).
struct HostView {
  enum class Kind { Buffer, Splat, Undefined };
  Kind kind = Kind::Undefined;
  int64_t buffer = -1;
  /// In elements.
  int64_t offset = 0;
  llvm::SmallVector<int64_t> shape, strides;
  /// The number of a splat.
  mlir::Value splat;
  mlir::TypedAttr splatAttribute;

  static HostView whole(int64_t buffer, llvm::ArrayRef<int64_t> shape);
};

/// Strides of the dimensions that groups of dimensions collapse to; none where
/// a group is not contiguous.
std::optional<llvm::SmallVector<int64_t>>
collapsedStrides(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides,
                 llvm::ArrayRef<llvm::SmallVector<int64_t, 2>> groups);
/// Strides of the dimensions that each dimension expands to.
llvm::SmallVector<int64_t>
expandedStrides(llvm::ArrayRef<int64_t> strides,
                llvm::ArrayRef<int64_t> expandedShape,
                llvm::ArrayRef<llvm::SmallVector<int64_t, 2>> groups);

} // namespace drawloom::triton

#endif // DRAWLOOM_CODEGEN_TRITON_HOSTVIEW_H
