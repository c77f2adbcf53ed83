//===- Files.cpp - arrays and files, .npz archives ------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/Files.h"
#include "lib/Numpy/Numpy.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <zip.h>

using namespace llvm;

namespace drawloom::numpy {

static Error zipError(const Twine &what, zip_error_t *error) {
  return createStringError(what + ": " + zip_error_strerror(error));
}

/// Unpacks one entry. Memory grows with what really comes out, never with the
/// size that the archive claims.
static Expected<std::string> readEntry(zip_t *archive, zip_uint64_t index,
                                       StringRef name) {
  zip_file_t *file = zip_fopen_index(archive, index, 0);
  if (!file)
    return zipError("entry '" + name + "'", zip_get_error(archive));
  llvm::scope_exit close([&] { zip_fclose(file); });
  std::string contents;
  std::vector<char> chunk(1 << 20);
  while (true) {
    zip_int64_t count = zip_fread(file, chunk.data(), chunk.size());
    if (count < 0)
      return zipError("entry '" + name + "'", zip_file_get_error(file));
    if (count == 0)
      return contents;
    contents.append(chunk.data(), count);
  }
}

Expected<std::vector<NamedArray>> parseNpz(StringRef contents) {
  // libzip takes an empty file for an archive without entries.
  if (contents.empty())
    return createStringError("not a .npz file: it is empty");
  zip_error_t error;
  zip_error_init(&error);
  llvm::scope_exit finish([&] { zip_error_fini(&error); });
  zip_source_t *source =
      zip_source_buffer_create(contents.data(), contents.size(), 0, &error);
  if (!source)
    return zipError("not a .npz file", &error);
  zip_t *archive = zip_open_from_source(source, ZIP_RDONLY, &error);
  if (!archive) {
    zip_source_free(source);
    return zipError("not a .npz file", &error);
  }
  llvm::scope_exit discard([&] { zip_discard(archive); });

  std::vector<NamedArray> arrays;
  zip_int64_t count = zip_get_num_entries(archive, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char *rawName = zip_get_name(archive, i, 0);
    if (!rawName)
      return zipError("entry " + Twine(i), zip_get_error(archive));
    std::string name = rawName;
    Expected<std::string> entry = readEntry(archive, i, name);
    if (!entry)
      return entry.takeError();
    Expected<Array> array = parseNpy(*entry);
    if (!array)
      return createStringError("entry '" + name +
                               "': " + toString(array.takeError()));
    StringRef key = name;
    key.consume_back(".npy");
    arrays.emplace_back(key.str(), std::move(*array));
  }
  return arrays;
}

static Expected<std::string> formatNpz(ArrayRef<NamedArray> arrays) {
  zip_error_t error;
  zip_error_init(&error);
  llvm::scope_exit finish([&] { zip_error_fini(&error); });
  zip_source_t *target = zip_source_buffer_create(nullptr, 0, 0, &error);
  if (!target)
    return zipError("cannot make a .npz file", &error);
  // The archive's contents are read from it after zip_close has let go.
  zip_source_keep(target);
  llvm::scope_exit release([&] { zip_source_free(target); });
  zip_t *archive = zip_open_from_source(target, ZIP_TRUNCATE, &error);
  if (!archive) {
    zip_source_free(target);
    return zipError("cannot make a .npz file", &error);
  }
  // zip_close reads the entries: their text lives until then.
  std::vector<std::string> entries;
  for (const NamedArray &array : arrays)
    entries.push_back(formatNpy(array.second));
  for (size_t i = 0; i < arrays.size(); ++i) {
    zip_source_t *entry =
        zip_source_buffer(archive, entries[i].data(), entries[i].size(), 0);
    std::string name = arrays[i].first + ".npy";
    zip_int64_t index =
        entry ? zip_file_add(archive, name.c_str(), entry, ZIP_FL_ENC_UTF_8)
              : -1;
    if (index < 0 ||
        zip_set_file_compression(archive, index, ZIP_CM_STORE, 0) < 0) {
      if (index < 0)
        zip_source_free(entry);
      Error failure = zipError("cannot add '" + name + "' to a .npz file",
                               zip_get_error(archive));
      zip_discard(archive);
      return failure;
    }
  }
  if (zip_close(archive) < 0) {
    Error failure = zipError("cannot make a .npz file", zip_get_error(archive));
    zip_discard(archive);
    return failure;
  }
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_source_open(target) < 0 || zip_source_stat(target, &stat) < 0)
    return zipError("cannot make a .npz file", zip_source_error(target));
  std::string contents(stat.size, '\0');
  zip_int64_t count = zip_source_read(target, contents.data(), contents.size());
  zip_source_close(target);
  if (count < 0 || static_cast<size_t>(count) != contents.size())
    return zipError("cannot make a .npz file", zip_source_error(target));
  return contents;
}

Expected<std::vector<NamedArray>> readFile(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFile(path, /*IsText=*/false,
                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError("cannot read '" + path +
                             "': " + buffer.getError().message());
  StringRef contents = (*buffer)->getBuffer();
  Expected<std::vector<NamedArray>> arrays = std::vector<NamedArray>();
  if (contents.starts_with("PK")) {
    arrays = parseNpz(contents);
  } else {
    Expected<Array> array = parseNpy(contents);
    if (array)
      arrays->emplace_back("", std::move(*array));
    else
      arrays = array.takeError();
  }
  if (!arrays)
    return createStringError("cannot read '" + path +
                             "': " + toString(arrays.takeError()));
  return arrays;
}

Error writeFile(StringRef path, ArrayRef<NamedArray> arrays) {
  if (path.ends_with(".npz")) {
    Expected<std::string> contents = formatNpz(arrays);
    if (!contents)
      return contents.takeError();
    return writeFileAtomically(path, *contents);
  }
  if (arrays.size() != 1)
    return createStringError("'" + path + "' holds one array, but there are " +
                             Twine(arrays.size()) + "; use .npz");
  return writeFileAtomically(path, formatNpy(arrays[0].second));
}

std::error_code TemporaryFile::create(StringRef path) {
  sys::fs::createUniquePath(path + ".%%%%%%%%%%%%.partial", name,
                            /*MakeAbsolute=*/false);
  // Before it exists, so that there is no moment at which a signal leaves it.
  sys::RemoveFileOnSignal(name);
  return sys::fs::openFileForWrite(name, descriptor, sys::fs::CD_CreateNew);
}

TemporaryFile::~TemporaryFile() {
  if (descriptor >= 0) {
    sys::fs::file_t file = sys::fs::convertFDToNativeFile(descriptor);
    sys::fs::closeFile(file);
    sys::fs::remove(name);
  }
  sys::DontRemoveFileOnSignal(name);
}

static std::error_code writeAll(int descriptor, StringRef contents) {
  raw_fd_ostream stream(descriptor, /*shouldClose=*/false);
  stream << contents;
  stream.flush();
  std::error_code code = stream.error();
  // The stream's destructor aborts on an error that nobody has looked at.
  stream.clear_error();
  return code;
}

static std::error_code closeFile(int descriptor) {
  sys::fs::file_t handle = sys::fs::convertFDToNativeFile(descriptor);
  return sys::fs::closeFile(handle);
}

/// Beside `path`, with the rights given, and then in its place.
static std::error_code replaceFile(StringRef path, std::optional<unsigned> mode,
                                   StringRef contents) {
  TemporaryFile file;
  if (std::error_code code = file.create(path))
    return code;
  std::error_code code;
  if (mode)
    code = sys::fs::setPermissions(file.descriptor,
                                   static_cast<sys::fs::perms>(*mode));
  if (!code)
    code = writeAll(file.descriptor, contents);
  // A quota or a server may refuse what was written as late as here.
  std::error_code late = closeFile(std::exchange(file.descriptor, -1));
  if (!code)
    code = late;
  if (!code)
    code = sys::fs::rename(file.name, path);
  // What has been renamed is not there to be removed any more.
  if (code)
    sys::fs::remove(file.name);
  return code;
}

static std::error_code writeSpecial(StringRef path, StringRef contents) {
  int descriptor;
  if (std::error_code code =
          sys::fs::openFileForWrite(path, descriptor, sys::fs::CD_OpenExisting))
    return code;
  std::error_code code = writeAll(descriptor, contents);
  std::error_code late = closeFile(descriptor);
  return code ? code : late;
}

Error writeFileAtomically(StringRef path, StringRef contents) {
  runtime::Result<runtime::Destination> destination =
      runtime::destinationOf(path.str());
  if (!destination.ok())
    return createStringError(destination.message());
  std::error_code code =
      destination->isSpecial
          ? writeSpecial(destination->path, contents)
          : replaceFile(destination->path, destination->mode, contents);
  if (code)
    return createStringError("cannot write '" + path + "': " + code.message());
  return Error::success();
}

} // namespace drawloom::numpy
