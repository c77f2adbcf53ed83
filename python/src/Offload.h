//===- Offload.h - stores of records on disks ------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PYTHON_OFFLOAD_H
#define DRAWLOOM_PYTHON_OFFLOAD_H

#include <nanobind/nanobind.h>

namespace drawloom::python {

/// Adds `Store`.
void addOffload(nanobind::module_ &m);

} // namespace drawloom::python

#endif // DRAWLOOM_PYTHON_OFFLOAD_H
