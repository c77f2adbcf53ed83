//===- RawBuffer.h - dense memory of element types --------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_INTERPRETER_RAWBUFFER_H
#define DRAWLOOM_LIB_INTERPRETER_RAWBUFFER_H

#include "dialects/Interfaces/HostTensor.h"

namespace drawloom {

/// Returns the bytes of one element in dense memory: i1 takes one byte, index
/// eight. Returns zero for types other than f64, f32, bf16, f16, i64, i32, i16,
/// i8, i1 and index.
int64_t rawElementBytes(mlir::Type elementType);

/// Writes the elements to dense row-major memory as `elementType`, rounding
/// floats to the nearest value, ties to even, and truncating integers. The kind
/// (float, integer) must match; the memory need not be aligned.
void writeRaw(const HostTensor &tensor, mlir::Type elementType, void *memory);

/// Reads dense row-major memory, without rounding.
HostTensor readRaw(llvm::ArrayRef<int64_t> shape, mlir::Type elementType,
                   const void *memory);

/// Rounds every element to the nearest value of the type, ties to even.
HostTensor roundedTo(const HostTensor &tensor, mlir::Type elementType);

} // namespace drawloom

#endif // DRAWLOOM_LIB_INTERPRETER_RAWBUFFER_H
