//===- Cache.h - compiled programs that are kept -------------- -*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_COMPILER_CACHE_H
#define DRAWLOOM_LIB_COMPILER_CACHE_H

#include "codegen/Program.h"
#include <optional>

namespace drawloom {

/// A folder of artifacts that any number of processes of one user may share: an
/// entry appears as a whole, and is verified when it is read. It holds its key,
/// and is used only where nobody but that user (and root) can have written it.
class DiskCache {
public:
  /// At most about `bytes` in all: the entries used longest ago go first.
  DiskCache(llvm::StringRef folder, uint64_t bytes = uint64_t(1) << 30)
      : folder(folder), bytes(bytes) {}

  /// $DRAWLOOM_CACHE, else drawloom below $XDG_CACHE_HOME or ~/.cache; empty
  /// where DRAWLOOM_CACHE is set and empty, or no home is known: no cache.
  static std::string defaultFolder();

  /// Nothing where there is no such entry. An error where there is one that
  /// cannot be used; the message says why.
  llvm::Expected<std::optional<Artifact>> find(llvm::StringRef key) const;
  llvm::Error keep(llvm::StringRef key, const Artifact &artifact) const;

private:
  std::string path(llvm::StringRef key) const;

  std::string folder;
  uint64_t bytes;
};

/// Identifies the compiler: its own build and that of LLVM and MLIR. Code of
/// another build is never used.
llvm::StringRef compilerBuild();

/// The hexadecimal SHA-256 of the parts, each told apart from the next.
std::string cacheKey(llvm::ArrayRef<llvm::StringRef> parts);

} // namespace drawloom

#endif // DRAWLOOM_LIB_COMPILER_CACHE_H
