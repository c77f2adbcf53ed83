//===- Slab.h - which place of which file has what -------------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files cut into extents of one size. The next one is taken from the file that
// would be done with it first, by what is under way and the rate it was seen
// to have.
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
  /// The next file by the order of the device's.
  void addFile(uint64_t bytes);

  /// The file with room that would be done first, of those with fewer than
  /// `depth` transfers under way, but for `avoided`; -1 if there is none.
  int choose(unsigned depth, int avoided = -1) const;
  Extent take(unsigned file);
  void giveBack(const Extent &extent);
  /// It is never used again.
  void quarantine(const Extent &extent) { ++files[extent.file].failed; }
  /// Takes no extents from the file but those that are given back: its disk has
  /// no room for others.
  void close(unsigned file);
  /// Takes none from it, since it does not answer.
  void bury(unsigned file);
  bool isDead(unsigned file) const { return files[file].dead; }

  void begin(unsigned file, uint64_t bytes, uint64_t now);
  void end(unsigned file, uint64_t bytes, uint64_t now);
  unsigned underWay(unsigned file) const { return files[file].transfers; }
  /// Whether each file has as many transfers under way.
  bool isBusy(unsigned depth) const;

  /// Extents that can be taken, of all files that are in use.
  uint64_t free() const;
  /// Bytes of extents that failed, and of all of dead files.
  uint64_t quarantined() const;
  unsigned dead() const;
  unsigned closed() const;

private:
  struct File {
    uint64_t extents, fresh = 0; ///< All, and those that were ever taken.
    uint64_t failed = 0;         ///< In quarantine.
    std::vector<uint64_t> unused;
    bool closed = false, dead = false;
    unsigned transfers = 0;
    uint64_t backlog = 0; ///< Bytes under way.
    /// Bytes that came back in the time that it was busy, since the last look.
    uint64_t since = 0, busy = 0, moved = 0;
    double rate = 0; ///< Bytes a nanosecond; 0 while unknown.
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
