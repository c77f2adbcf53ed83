//===- Jax.h - programs as functions that XLA calls ------------ -*- C++
//-*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_PYTHON_JAX_H
#define DRAWLOOM_PYTHON_JAX_H

#include <nanobind/nanobind.h>

namespace drawloom::python {

/// Adds to the extension module:
///   xla_handler             a capsule for jax.ffi.register_ffi_target
///   xla_known(key, function)  lets calls with the attribute `key` run this
///                           function, for as long as the process lives
void addJax(nanobind::module_ &module);

} // namespace drawloom::python

#endif // DRAWLOOM_PYTHON_JAX_H
