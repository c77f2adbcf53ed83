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

/// A folder of artifacts that any number of processes of one user may share.
/// Entries are written atomically and verified when they are read. Each entry
/// stores its key, and is used only if nobody except that user (and root) can
/// have written it.
class DiskCache {
public:
  /// The total size is limited to about `bytes`: the least recently used
  /// entries are evicted first.
  DiskCache(llvm::StringRef folder, uint64_t bytes = uint64_t(1) << 30)
      : folder(folder), bytes(bytes) {}

  /// Returns $DRAWLOOM_CACHE, else drawloom below $XDG_CACHE_HOME or ~/.cache.
  /// Returns an empty string, which means no cache, if DRAWLOOM_CACHE is set
  /// but empty, or if no home folder is known.
  static std::string defaultFolder();

  /// Returns nothing if there is no such entry. If there is one that cannot be
  /// used, the error says why.
  llvm::Expected<std::optional<Artifact>> find(llvm::StringRef key) const;
  llvm::Error keep(llvm::StringRef key, const Artifact &artifact) const;

private:
  std::string path(llvm::StringRef key) const;

  std::string folder;
  uint64_t bytes;
};

/// Identifies the compiler by its own build and that of LLVM and MLIR. Code
/// made by another build is never used.
llvm::StringRef compilerBuild();

/// Returns the hexadecimal SHA-256 of the parts, which are separated
/// unambiguously.
std::string cacheKey(llvm::ArrayRef<llvm::StringRef> parts);

} // namespace drawloom

#endif // DRAWLOOM_LIB_COMPILER_CACHE_H
