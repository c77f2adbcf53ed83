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

/// What of a file system and of the kernel is used where it is there. All of
/// it, but for tests, and for systems that claim more than they do.
struct Ways {
  bool nameless = true; ///< O_TMPFILE.
  bool direct = true;   ///< O_DIRECT.
  bool reserve = true;  ///< fallocate.
  bool single = true;   ///< A ring that one thread has for itself.
  bool pinned = true;   ///< Memory that is registered with a ring.
};

/// An open file, as Device::open() promises it.
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

/// Reads or writes as a transfer says, in the thread that calls. Writes that go
/// through the page cache are waited for until the disk has them, and the cache
/// lets go of all that went through it: memory is what a store is to save.
/// What a completion says: bytes, or the negative of an errno.
int64_t transferNow(int descriptor, bool direct, const Transfer &transfer);

/// The second half of it, for those who do the first in another way.
int settleWrite(int descriptor, uint64_t offset, uint64_t count);
void forget(int descriptor, uint64_t offset, uint64_t count);

/// "1.50 GiB".
std::string inWords(uint64_t bytes);

} // namespace drawloom::runtime::offload

#endif // DRAWLOOM_RUNTIME_OFFLOAD_FOLDER_H
