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
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

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

/// Why what the cache holds there may not be run: whoever can write to it says
/// what runs in this process.
static std::optional<std::string> distrust(const struct stat &info) {
  // Root may write everywhere.
  if (info.st_uid != ::geteuid() && info.st_uid != 0)
    return "it belongs to another user";
  if (info.st_mode & (S_IWGRP | S_IWOTH))
    return "others than its owner may write to it; 'chmod go-w' forbids it";
  return std::nullopt;
}

/// The same of the whole folder; nothing where there is none.
static std::optional<std::string> distrustFolder(const std::string &folder) {
  struct stat info;
  return ::stat(folder.c_str(), &info) == 0 ? distrust(info) : std::nullopt;
}

// An entry names its key: one that came to lie under another name is no answer.
static std::string firstLine(StringRef key) {
  return ("drawloom-cache 1 " + key + "\n").str();
}

Expected<std::optional<Artifact>> DiskCache::find(StringRef key) const {
  if (std::optional<std::string> why = distrustFolder(folder))
    return createStringError("the cache '" + folder + "' is not used: " + *why);
  std::string file = path(key);
  auto failed = [&](int code) {
    return createStringError("the cache's entry '" + file +
                             "' cannot be read: " + std::strerror(code));
  };
  auto unused = [&](const Twine &why) {
    return createStringError("the cache's entry '" + file +
                             "' is not used: " + why);
  };
  // Opening a pipe would wait for a writer.
  int handle =
      ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (handle < 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      return std::nullopt;
    return errno == ELOOP ? unused("it is a link") : failed(errno);
  }
  auto close = llvm::scope_exit([&] { ::close(handle); });
  struct stat info;
  if (::fstat(handle, &info) != 0)
    return failed(errno);
  if (!S_ISREG(info.st_mode))
    return unused("it is no regular file");
  if (std::optional<std::string> why = distrust(info))
    return unused(*why);
  // pruneCache goes by when a file was used last.
  const struct timespec now[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
  (void)::futimens(handle, now);
  ErrorOr<std::unique_ptr<MemoryBuffer>> bytes = MemoryBuffer::getOpenFile(
      handle, file, /*FileSize=*/-1, /*RequiresNullTerminator=*/false);
  if (!bytes)
    return failed(bytes.getError().value());
  StringRef contents = (*bytes)->getBuffer();
  if (!contents.consume_front(firstLine(key)))
    return unused("it is the entry of another program, or no entry");
  Expected<Artifact> artifact = readArtifact(contents);
  if (!artifact)
    return unused(toString(artifact.takeError()));
  return std::optional<Artifact>(std::move(*artifact));
}

Error DiskCache::keep(StringRef key, const Artifact &artifact) const {
  // `find` has said so.
  if (distrustFolder(folder))
    return Error::success();
  auto failed = [&](std::error_code code) {
    return createStringError("the program is not kept in the cache '" + folder +
                             "': " + code.message());
  };
  if (std::error_code code = sys::fs::create_directories(
          folder, /*IgnoreExisting=*/true, sys::fs::perms::owner_all))
    return failed(code);
  if (std::error_code code = writeWholeFile(
          path(key), firstLine(key) + writeArtifact(artifact), 0600))
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
