//===- Version.h - which Drawloom this is ----------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_VERSION_H
#define DRAWLOOM_LIB_VERSION_H

#include "llvm/Support/raw_ostream.h"

namespace drawloom {

/// Prints "Drawloom 0.2.0 (LLVM 22.1.8)" and a newline, the output of
/// --version.
void printVersion(llvm::raw_ostream &stream);

} // namespace drawloom

#endif // DRAWLOOM_LIB_VERSION_H
