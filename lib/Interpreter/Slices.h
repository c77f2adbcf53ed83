//===- Slices.h - regular parts of tensors ----------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_INTERPRETER_SLICES_H
#define DRAWLOOM_LIB_INTERPRETER_SLICES_H

#include "lib/Interpreter/Machine.h"

namespace drawloom::interpreter {

/// A part of a tensor, with regular strides.
struct Slice {
  llvm::SmallVector<int64_t, 4> offsets, sizes, strides;
};

/// Returns the slice that an op with offsets, sizes and strides selects from a
/// tensor of the given shape. Emits an error and fails if the slice exceeds the
/// tensor.
mlir::FailureOr<Slice> sliceOf(mlir::Operation *op,
                               llvm::ArrayRef<HostTensor> operands,
                               llvm::ArrayRef<int64_t> shape);

/// Reads a slice into a tensor of shape `result`, of equal element count.
HostTensor readSlice(const HostTensor &from, const Slice &slice,
                     llvm::ArrayRef<int64_t> result);
/// Writes the elements of `value`, in order, to a slice.
void writeSlice(HostTensor &to, const Slice &slice, const HostTensor &value);

/// Fails with an error at `op` unless `value` has the shape of the slice
/// without the dimensions in `dropped`.
llvm::LogicalResult verifySliceShape(mlir::Operation *op, const Slice &slice,
                                     const llvm::SmallBitVector &dropped,
                                     const HostTensor &value);

/// Calls `fn` with the position of each of the slice's elements, in order.
void forEachOffset(llvm::ArrayRef<int64_t> shape, const Slice &slice,
                   llvm::function_ref<void(int64_t)> fn);

} // namespace drawloom::interpreter

#endif // DRAWLOOM_LIB_INTERPRETER_SLICES_H
