//===- OpenLibrary.h - libraries that use this one ------------- -*- C++
//-*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_COMPILER_OPENLIBRARY_H
#define DRAWLOOM_LIB_COMPILER_OPENLIBRARY_H

#include "llvm/Support/Error.h"
#include <string>

namespace drawloom {

/// Opens a library that uses Drawloom's symbols but is not linked with
/// Drawloom. Its undefined symbols are found in the program or the library that
/// this code is part of. All symbols are bound at once, and no other library of
/// the process sees any of them. `path` is absolute.
llvm::Expected<void *> openLibrary(const std::string &path);

} // namespace drawloom

#endif // DRAWLOOM_LIB_COMPILER_OPENLIBRARY_H
