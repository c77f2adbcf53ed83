//===- Folder.h - nameless files in folders --------------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_OFFLOAD_FOLDER_H
#define DRAWLOOM_RUNTIME_OFFLOAD_FOLDER_H

#include "runtime/offload/Device.h"

namespace drawloom::runtime::offload {

/// Features of the file system and the kernel to use if available. All are
/// enabled by default, except in tests, and on systems that claim more than
/// they support.
struct Ways {
  bool nameless = true; ///< O_TMPFILE.
  bool direct = true;   ///< O_DIRECT.
  bool reserve = true;  ///< fallocate.
  bool single = true;   ///< A ring used by a single thread.
  bool pinned = true;   ///< Memory registered with a ring.
};

/// An open file with the properties that Device::open() promises.
class File {
public:
  static Result<File> open(const std::string &folder, uint64_t bytes,
                           Ways ways = {});
  File(File &&other) noexcept;
  File &operator=(File &&other) noexcept;
  ~File();

  int descriptor() const { return number; }
  const FileFacts &facts() const { return known; }

private:
  explicit File(int number) : number(number) {}
  Status setUp(uint64_t bytes, Ways ways);
  Status reserve(uint64_t bytes, bool asked);
  bool makeDirect();
  std::string prove() const;
  void addLimitation(const std::string &text);

  int number;
  FileFacts known{};
};

/// Performs a transfer synchronously on the calling thread. A write through the
/// page cache is waited for until it is on disk, and the pages of all transfers
/// through the page cache are dropped: the purpose of a store is to save
/// memory. Returns the result for a completion: bytes, or a negative errno.
int64_t transferNow(int descriptor, bool direct, const Transfer &transfer);

/// Performs the second half of such a write, for callers that do the first half
/// differently.
int settleWrite(int descriptor, uint64_t offset, uint64_t count);
void forget(int descriptor, uint64_t offset, uint64_t count);

/// Returns text such as "1.50 GiB".
std::string inWords(uint64_t bytes);

} // namespace drawloom::runtime::offload

#endif // DRAWLOOM_RUNTIME_OFFLOAD_FOLDER_H
