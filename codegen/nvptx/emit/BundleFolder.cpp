//===- BundleFolder.cpp - bundles in the file system ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/emit/Bundle.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Errc.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstdio>
#include <fcntl.h>

using namespace llvm;

namespace drawloom::nvptx {

static constexpr StringLiteral manifestName = "bundle.json";

Expected<Bundle> readBundleFrom(
    StringRef manifest,
    function_ref<Expected<std::string>(StringRef, int64_t)> contents);
std::string printManifest(const Bundle &bundle);

static std::string childOf(StringRef folder, StringRef name) {
  SmallString<256> path(folder);
  sys::path::append(path, name);
  return path.str().str();
}

static std::error_code writeFile(StringRef path, StringRef contents) {
  std::error_code code;
  raw_fd_ostream stream(path, code);
  if (code)
    return code;
  stream << contents;
  stream.close();
  code = stream.error();
  stream.clear_error();
  return code;
}

static Expected<std::string> readFile(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(
      path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError(
        "'" + path + "' cannot be read: " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

/// Whether a folder may give way: it is absent, empty, or a bundle.
static Error checkReplaceable(StringRef folder) {
  sys::fs::file_status status;
  if (sys::fs::status(folder, status))
    return Error::success();
  if (!sys::fs::is_directory(status))
    return createStringError("'" + folder + "' is there and is no folder");
  std::error_code code;
  sys::fs::directory_iterator entry(folder, code), end;
  if (entry == end || sys::fs::exists(childOf(folder, manifestName)))
    return Error::success();
  return createStringError("the folder '" + folder +
                           "' holds other files and no bundle; it is left as "
                           "it is. Name another one");
}

/// Puts `made` in the place of `folder` in one step.
static std::error_code exchange(const std::string &made,
                                const std::string &folder) {
  if (sys::fs::exists(folder)) {
    if (renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, folder.c_str(),
                  RENAME_EXCHANGE) == 0)
      return {}; // `made` is the old one now, and goes.
    // File systems that cannot exchange: only an empty folder gives way.
    if (std::error_code code = sys::fs::remove_directories(folder, false))
      return code;
  }
  if (std::rename(made.c_str(), folder.c_str()) == 0)
    return {};
  return std::error_code(errno, std::generic_category());
}

Error writeBundle(const Bundle &bundle, StringRef folder) {
  if (Error error = checkReplaceable(folder))
    return error;
  SmallString<256> place(folder);
  if (std::error_code code = sys::fs::make_absolute(place))
    return createStringError(code.message());
  sys::path::remove_dots(place, /*remove_dot_dot=*/false);
  while (place.size() > 1 && sys::path::is_separator(place.back()))
    place.pop_back();
  auto failed = [&](std::error_code code) {
    return createStringError("the bundle cannot be written to '" + folder +
                             "': " + code.message());
  };
  if (std::error_code code =
          sys::fs::create_directories(sys::path::parent_path(place)))
    return failed(code);
  SmallString<256> made;
  for (int attempt = 0;; ++attempt) {
    sys::fs::createUniquePath(place + "-new-%%%%%%%%", made, false);
    std::error_code code = sys::fs::create_directory(made, false);
    if (!code)
      break;
    if (code != errc::file_exists || attempt == 16)
      return failed(code);
  }
  scope_exit remove([&] { sys::fs::remove_directories(made); });
  for (const auto &[path, contents] : bundle.files) {
    std::string file = childOf(made, path);
    if (std::error_code code =
            sys::fs::create_directories(sys::path::parent_path(file)))
      return failed(code);
    if (std::error_code code = writeFile(file, contents))
      return failed(code);
  }
  if (std::error_code code =
          writeFile(childOf(made, manifestName), printManifest(bundle)))
    return failed(code);
  if (std::error_code code = exchange(made.str().str(), place.str().str()))
    return failed(code);
  return Error::success();
}

Expected<Bundle> readBundle(StringRef folder) {
  auto failed = [&](Error error) {
    return createStringError("the bundle '" + folder +
                             "' cannot be used: " + toString(std::move(error)));
  };
  Expected<std::string> manifest = readFile(childOf(folder, manifestName));
  if (!manifest)
    return failed(manifest.takeError());
  Expected<Bundle> bundle =
      readBundleFrom(*manifest, [&](StringRef path, int64_t) {
        return readFile(childOf(folder, path));
      });
  if (!bundle)
    return failed(bundle.takeError());
  return bundle;
}

} // namespace drawloom::nvptx
