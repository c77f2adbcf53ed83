//===- Slab.h - which place of which file has what -------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files divided into extents of equal size. The next extent is taken from the
// file that would finish first, given the transfers in progress and the file's
// measured rate.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_OFFLOAD_SLAB_H
#define DRAWLOOM_RUNTIME_OFFLOAD_SLAB_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace drawloom::runtime::offload {

struct Extent {
  unsigned file = 0;
  uint64_t offset = 0;
};

class Slab {
public:
  explicit Slab(uint64_t extentBytes) : extentBytes(extentBytes) {}
  /// Adds the device's next file.
  void addFile(uint64_t bytes);

  /// Returns the file with room that would finish first, among those with fewer
  /// than `depth` transfers in progress and except `avoided`; -1 if there is
  /// none.
  int choose(unsigned depth, int avoided = -1) const;
  Extent take(unsigned file);
  void giveBack(const Extent &extent);
  /// Removes an extent from use for good.
  void quarantine(const Extent &extent) { ++files[extent.file].failed; }
  /// Stops taking new extents from the file; only freed ones are reused: its
  /// disk has no room for others.
  void close(unsigned file);
  /// Stops taking any extents from the file, since it does not respond.
  void bury(unsigned file);
  bool isDead(unsigned file) const { return files[file].dead; }

  void begin(unsigned file, uint64_t bytes, uint64_t now);
  void end(unsigned file, uint64_t bytes, uint64_t now);
  unsigned underWay(unsigned file) const { return files[file].transfers; }
  /// Returns whether each file has `depth` transfers in progress.
  bool isBusy(unsigned depth) const;

  /// Returns the number of available extents, over all files in use.
  uint64_t free() const;
  /// Returns the bytes of failed extents, and of all extents of dead files.
  uint64_t quarantined() const;
  unsigned dead() const;
  unsigned closed() const;

private:
  struct File {
    /// Total extents, and those that have ever been used.
    uint64_t extents, fresh = 0;
    uint64_t failed = 0; ///< In quarantine.
    std::vector<uint64_t> unused;
    bool closed = false, dead = false;
    unsigned transfers = 0;
    uint64_t backlog = 0; ///< Bytes in progress.
    /// Time of the last update; and the busy time and the bytes completed since
    /// the last measurement.
    uint64_t since = 0, busy = 0, moved = 0;
    double rate = 0; ///< Bytes per nanosecond; 0 while unknown.
    uint64_t free() const {
      if (dead)
        return 0;
      return unused.size() + (closed ? 0 : extents - fresh);
    }
  };

  const uint64_t extentBytes;
  std::vector<File> files;
};

} // namespace drawloom::runtime::offload

#endif // DRAWLOOM_RUNTIME_OFFLOAD_SLAB_H
