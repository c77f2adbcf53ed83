//===- RowTable.h - rows of a file, read ahead of use -----------*- C++ -*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements drawloom-c/table.h as classes.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_ROWTABLE_H
#define DRAWLOOM_RUNTIME_ROWTABLE_H

#include "drawloom/runtime/AlignedBuffer.h"
#include "drawloom/runtime/Status.h"
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <sys/uio.h>
#include <thread>
#include <vector>

namespace drawloom::runtime {

struct TableFile {
  std::string path;
  int64_t offset = 0, rows = 0, rowBytes = 0;
  int64_t memory = int64_t(64) << 20;
  int64_t readers = 8;
};

struct TableCounts {
  int64_t fetches = 0, rows = 0, rowsRead = 0, reads = 0, bytes = 0;
  int64_t held = 0, mostHeld = 0, waited = 0;
};

/// A request for rows. Once the fetch has been started, the table's mutex
/// guards all of it except the contents of `memory`.
struct RowFetch {
  /// Row numbers, and where each row goes.
  struct Place {
    int64_t row, at;
  };
  std::vector<Place> places;
  int64_t bytes = 0;
  AlignedBuffer memory;
  enum { waiting, reading, done, failed } state = waiting;
  bool holds = false, dropped = false;
  int64_t shares = 0; ///< Shares still to be read or being read.
  std::string failure;
  bool lacksMemory = false;
};

class RowTable {
public:
  static Result<std::unique_ptr<RowTable>> open(const TableFile &file);
  /// All fetches must have been dropped.
  ~RowTable();
  /// Destroys the table if possible: in a forked child, it does nothing.
  static void close(std::unique_ptr<RowTable> table);

  /// Starts a fetch. Refuses numbers out of range, and more rows than fit into
  /// the table's memory.
  Result<std::shared_ptr<RowFetch>> start(const void *numbers, bool wide,
                                          int64_t count);
  enum class Outcome { rows, late, failed, lacksMemory };
  Outcome wait(RowFetch &fetch, int64_t nanoseconds, std::string &failure);
  void drop(const std::shared_ptr<RowFetch> &fetch);
  TableCounts counts() const;

private:
  /// The part of a fetch that one thread reads; its places are sorted by row.
  struct Share {
    std::shared_ptr<RowFetch> fetch;
    size_t first, last;
  };

  static constexpr size_t mostKept = 8;

  RowTable(const TableFile &file, int descriptor)
      : file(file), descriptor(descriptor) {
    kept.reserve(mostKept);
  }
  void read();
  bool hasRoom() const;
  bool plan(const std::shared_ptr<RowFetch> &fetch, std::vector<Share> &found);
  static void setLacking(RowFetch &fetch);
  std::string readShare(const Share &share, TableCounts &counts);
  std::string readAll(std::vector<iovec> &parts, int64_t at,
                      TableCounts &counts) const;
  void finish(RowFetch &fetch, std::string failure);
  void release(RowFetch &fetch);
  void takeKept(RowFetch &fetch);
  void dropKept();

  const TableFile file;
  const int descriptor;
  const int process = ownProcess();
  static int ownProcess();
  bool isForked() const;

  mutable std::mutex mutex;
  std::condition_variable work, news;
  std::deque<std::shared_ptr<RowFetch>> waiting;
  std::deque<Share> shares;
  std::vector<std::thread> threads;
  /// Memory of finished fetches, oldest first, for reuse by later ones: new
  /// memory costs as much time as reading rows that the system has cached.
  std::vector<AlignedBuffer> kept;
  int64_t keptBytes = 0;
  int64_t active = 0; ///< Fetches that are being planned or read.
  bool closing = false;
  TableCounts counted;
};

} // namespace drawloom::runtime

#endif // DRAWLOOM_RUNTIME_ROWTABLE_H
