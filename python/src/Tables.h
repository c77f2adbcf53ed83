//===- Tables.h - tables in files -------------------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PYTHON_TABLES_H
#define DRAWLOOM_PYTHON_TABLES_H

#include <nanobind/nanobind.h>

namespace drawloom::python {

/// Adds `Table` and `Fetch`.
void addTables(nanobind::module_ &m);

} // namespace drawloom::python

#endif // DRAWLOOM_PYTHON_TABLES_H
