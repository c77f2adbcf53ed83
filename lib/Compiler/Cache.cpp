//===- Cache.cpp - compiled programs that are kept ------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Compiler/Cache.h"
#include "codegen/Artifact.h"
#include "lib/Compiler/WholeFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/Errc.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <link.h>

using namespace llvm;

namespace drawloom {

std::string DiskCache::defaultFolder() {
  if (const char *folder = std::getenv("DRAWLOOM_CACHE"))
    return folder;
  SmallString<128> path;
  if (!sys::path::cache_directory(path))
    return "";
  sys::path::append(path, "drawloom");
  return path.str().str();
}

// pruneCache looks after files of this name only, and so after what a killed
// process may have left beside it.
std::string DiskCache::path(StringRef key) const {
  SmallString<128> path(folder);
  sys::path::append(path, "llvmcache-" + key);
  return path.str().str();
}

Expected<std::optional<Artifact>> DiskCache::find(StringRef key) const {
  std::string file = path(key);
  auto failed = [&](std::error_code code) {
    return createStringError("the cache's entry '" + file +
                             "' cannot be read: " + code.message());
  };
  // pruneCache goes by when a file was used last.
  Expected<sys::fs::file_t> handle =
      sys::fs::openNativeFileForRead(file, sys::fs::OF_UpdateAtime);
  if (!handle) {
    std::error_code code = errorToErrorCode(handle.takeError());
    if (code == errc::no_such_file_or_directory ||
        code == errc::not_a_directory)
      return std::nullopt;
    return failed(code);
  }
  ErrorOr<std::unique_ptr<MemoryBuffer>> bytes = MemoryBuffer::getOpenFile(
      *handle, file, /*FileSize=*/-1, /*RequiresNullTerminator=*/false);
  sys::fs::closeFile(*handle);
  if (!bytes)
    return failed(bytes.getError());
  Expected<Artifact> artifact = readArtifact((*bytes)->getBuffer());
  if (!artifact)
    return createStringError("the cache's entry '" + file + "' is not used: " +
                             toString(artifact.takeError()));
  return std::optional<Artifact>(std::move(*artifact));
}

Error DiskCache::keep(StringRef key, const Artifact &artifact) const {
  auto failed = [&](std::error_code code) {
    return createStringError("the program is not kept in the cache '" + folder +
                             "': " + code.message());
  };
  if (std::error_code code = sys::fs::create_directories(folder))
    return failed(code);
  if (std::error_code code = writeWholeFile(path(key), writeArtifact(artifact)))
    return failed(code);

  CachePruningPolicy policy;
  policy.Interval = std::chrono::seconds(60);
  policy.MaxSizePercentageOfAvailableSpace = 0;
  policy.MaxSizeBytes = bytes;
  pruneCache(folder, policy);
  return Error::success();
}

/// The build id that the linker leaves in a library or program.
static void appendBuildId(const dl_phdr_info &object, std::string &text) {
  for (const ElfW(Phdr) &segment :
       ArrayRef(object.dlpi_phdr, object.dlpi_phnum)) {
    if (segment.p_type != PT_NOTE)
      continue;
    const char *at =
        reinterpret_cast<const char *>(object.dlpi_addr + segment.p_vaddr);
    const char *end = at + segment.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      const auto *note = reinterpret_cast<const ElfW(Nhdr) *>(at);
      const char *name = at + sizeof(*note);
      const char *value = name + alignTo(note->n_namesz, 4);
      if (note->n_type == NT_GNU_BUILD_ID &&
          StringRef(name, note->n_namesz) == StringRef("GNU", 4))
        text += toHex(StringRef(value, note->n_descsz)) + " ";
      at = value + alignTo(note->n_descsz, 4);
    }
  }
}

StringRef compilerBuild() {
  static const std::string build = [] {
    std::string text;
    dl_iterate_phdr(
        [](dl_phdr_info *object, size_t, void *context) {
          StringRef name = sys::path::filename(object->dlpi_name);
          // What this code is in, and the libraries that do the rest.
          bool own = false;
          auto here = reinterpret_cast<uintptr_t>(&compilerBuild);
          for (const ElfW(Phdr) &segment :
               ArrayRef(object->dlpi_phdr, object->dlpi_phnum))
            own |= segment.p_type == PT_LOAD &&
                   here - object->dlpi_addr - segment.p_vaddr < segment.p_memsz;
          if (own || name.starts_with("libLLVM") || name.starts_with("libMLIR"))
            appendBuildId(*object, *static_cast<std::string *>(context));
          return 0;
        },
        &text);
    return text;
  }();
  return build;
}

std::string cacheKey(ArrayRef<StringRef> parts) {
  SHA256 hash;
  for (StringRef part : parts) {
    hash.update(utostr(part.size()) + ":");
    hash.update(part);
  }
  return toHex(hash.final(), /*LowerCase=*/true);
}

} // namespace drawloom
