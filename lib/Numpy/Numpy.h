//===- Numpy.h - arrays in .npy and .npz files ------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_LIB_NUMPY_NUMPY_H
#define DRAWLOOM_LIB_NUMPY_NUMPY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace drawloom::numpy {

/// A dense array in row-major order and this machine's (little-endian) byte
/// order, regardless of the file's. Format: NumPy's documentation,
/// numpy.lib.format, versions 1.0 to 3.0.
struct Array {
  /// NumPy's letter: 'f' float, 'i' signed, 'u' unsigned integer, 'b' boolean,
  /// 'V' uninterpreted bytes. The ml_dtypes package stores bfloat16 as V2.
  char kind = 'f';
  /// Bytes of one element: 1, 2, 4 or 8.
  unsigned elementBytes = 4;
  std::vector<int64_t> shape;
  std::string bytes;

  int64_t elements() const;
  /// Returns a name such as "float32", "int64", "bool" or "void16".
  std::string typeName() const;
};

/// Returns text such as "[2, 3]".
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// Parses the contents of a .npy file. Errors: another format, a header that is
/// truncated or malformed, object and structured types, a shape whose size
/// overflows, fewer or more bytes than the shape needs.
llvm::Expected<Array> parseNpy(llvm::StringRef contents);
/// Returns the contents of a .npy file (version 1.0) with the array.
std::string formatNpy(const Array &array);

using NamedArray = std::pair<std::string, Array>;
/// Parses the contents of a .npz file; arrays keep the file's order, and their
/// names lose ".npy". Errors: not a zip archive, a damaged entry, an entry that
/// is not an array.
llvm::Expected<std::vector<NamedArray>> parseNpz(llvm::StringRef contents);

/// Reads a file, which errors name. A .npy file gives one unnamed array.
llvm::Expected<std::vector<NamedArray>> readFile(llvm::StringRef path);
/// Writes arrays to a .npy (exactly one) or .npz file.
llvm::Error writeFile(llvm::StringRef path, llvm::ArrayRef<NamedArray> arrays);

/// A new, empty file next to a path. Unless it is renamed, it is deleted with
/// this object, and when a signal ends the process: for programs only, since
/// this installs LLVM's signal handlers.
struct TemporaryFile {
  TemporaryFile() = default;
  TemporaryFile(const TemporaryFile &) = delete;
  ~TemporaryFile();
  std::error_code create(llvm::StringRef path);

  llvm::SmallString<128> name;
  int descriptor = -1;
};

/// Writes a temporary file next to `path`, then renames it: `path` has either
/// its old contents or all of the new ones, even after a full disk. Follows
/// links, keeps permissions, and writes directly to special files.
llvm::Error writeFileAtomically(llvm::StringRef path, llvm::StringRef contents);

} // namespace drawloom::numpy

#endif // DRAWLOOM_LIB_NUMPY_NUMPY_H
