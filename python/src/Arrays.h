//===- Arrays.h - calls with the arrays of Python's libraries -- -*- C++
//-*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PYTHON_ARRAYS_H
#define DRAWLOOM_PYTHON_ARRAYS_H

#include "Objects.h"
#include <nanobind/nanobind.h>

namespace drawloom::python {

/// As NumPy and ml_dtypes name it: "float32", "bfloat16", "bool".
const char *elementName(DrawloomElement element);

/// Stores a number as an argument's element type, which is that of a scalar;
/// raises drawloom.CallError where it does not fit.
void storeArgument(const Function &function, size_t index,
                   nanobind::handle number, char *to);

/// Calls the function with arrays that have the buffer protocol or DLPack, or
/// with numbers for its scalars. Dense arrays are read where they are, others
/// are copied first. Results go to `out` (dense, writable arrays), or to new
/// arrays of the kind of the first argument that is an array. Raises
/// drawloom.CallError for what does not fit. With arrays on the function's GPU
/// it is callOnDevice, which takes `stream`.
nanobind::object callWithArrays(const Function &function,
                                nanobind::handle arguments,
                                nanobind::handle out, unsigned threads,
                                nanobind::handle stream);

/// What a call reads, and what keeps it alive.
struct ArgumentBuffers {
  std::vector<DrawloomBuffer> buffers;
  std::shared_ptr<void> owner;
};
/// The arguments as callWithArrays takes them. Raises as that does.
ArgumentBuffers readArguments(const Function &function,
                              nanobind::handle arguments);

/// The same for addresses of dense arrays that the caller has checked.
void callWithPointers(const Function &function,
                      const std::vector<uintptr_t> &arguments,
                      const std::vector<uintptr_t> &results, unsigned threads);

} // namespace drawloom::python

#endif // DRAWLOOM_PYTHON_ARRAYS_H
