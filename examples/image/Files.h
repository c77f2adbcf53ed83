//===- Files.h - files that are written whole or not at all -----*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_EXAMPLES_IMAGE_FILES_H
#define DRAWLOOM_EXAMPLES_IMAGE_FILES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

namespace image {

/// An error whose whole text is `message`.
llvm::Error makeError(const llvm::Twine &message);

/// Writes `bytes` to a temporary file beside `path`, flushes it to the disk and
/// renames it: whatever goes wrong, `path` is the old file or the new one.
llvm::Error writeWhole(llvm::StringRef path, llvm::StringRef bytes);

/// Creates `folder` where missing and makes sure that `bytes` bytes can be
/// written there, so that a long run does not fail at its end.
llvm::Error prepareFolder(llvm::StringRef folder, uint64_t bytes);

} // namespace image

#endif // DRAWLOOM_EXAMPLES_IMAGE_FILES_H
