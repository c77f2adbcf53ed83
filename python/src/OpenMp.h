//===- OpenMp.h - the threads that torch's own ops run on ------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PYTHON_OPENMP_H
#define DRAWLOOM_PYTHON_OPENMP_H

#include <functional>

namespace drawloom::python {

/// Finds the OpenMP runtime of this process, which torch has brought; false
/// where it has none. Its threads wait in a loop after each of torch's ops, so
/// that other threads would have to share the cores with them.
bool findOpenMp();

/// While it lives, calls of this thread run on OpenMP's threads, if they were
/// found. A child of fork has none, and OpenMP would wait for them for ever:
/// there the library's own threads run.
class OpenMpThreads {
public:
  OpenMpThreads();
  ~OpenMpThreads();
  OpenMpThreads(const OpenMpThreads &) = delete;
  OpenMpThreads &operator=(const OpenMpThreads &) = delete;
};

/// Calls `work` on up to `threads` of OpenMP's threads at once, on the caller's
/// alone where there are no others. It does not throw.
void onOpenMpThreads(unsigned threads, const std::function<void()> &work);

} // namespace drawloom::python

#endif // DRAWLOOM_PYTHON_OPENMP_H
