//===- RowTable.cpp - rows of a file, read ahead of use -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fetch sorts its numbers and reads rows in the order of the file: those that
// follow each other closely with one call, which puts each where it belongs.
// Disks answer several reads at once sooner than one after another, so there
// are several threads, however few processors.
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/RowTable.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace drawloom::runtime {

namespace {
/// What is between two rows is read along with them up to here: the system
/// reads pages of this size anyway.
constexpr int64_t mostGap = 4096;
/// A call reads at most so much where it reads several rows, so that several
/// threads have some.
constexpr int64_t mostBytes = int64_t(256) << 10;
constexpr size_t mostParts = IOV_MAX;
} // namespace

int RowTable::ownProcess() { return ::getpid(); }

Result<std::unique_ptr<RowTable>> RowTable::open(const TableFile &file) {
  auto number = [](int64_t value) { return std::to_string(value); };
  int64_t end = 0;
  if (file.offset < 0 || file.rows < 0 || file.rowBytes < 1 ||
      file.memory < 1 || file.readers < 1 || file.readers > 1024 ||
      __builtin_mul_overflow(file.rows, file.rowBytes, &end) ||
      __builtin_add_overflow(end, file.offset, &end))
    return Status::error("a table of " + number(file.rows) + " rows of " +
                         number(file.rowBytes) + " bytes behind " +
                         number(file.offset) + ", with " + number(file.memory) +
                         " bytes of memory and " + number(file.readers) +
                         " readers (1 to 1024), cannot be");
  // What is no file may not be there yet: it is refused below.
  int descriptor = ::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  auto failed = [&](const std::string &why) {
    if (descriptor >= 0)
      ::close(descriptor);
    return Status::error("'" + file.path + "' cannot be read: " + why);
  };
  struct stat info;
  if (descriptor < 0 || ::fstat(descriptor, &info) != 0)
    return failed(std::strerror(errno));
  if (S_ISDIR(info.st_mode))
    return failed(std::strerror(EISDIR));
  if (!S_ISREG(info.st_mode) && !S_ISBLK(info.st_mode))
    return failed("it is no file whose rows could be read in any order");
  if (S_ISREG(info.st_mode) && info.st_size < end)
    return failed("it has " + number(info.st_size) + " bytes, but " +
                  number(file.rows) + " rows of " + number(file.rowBytes) +
                  " bytes behind " + number(file.offset) + " need " +
                  number(end));
  // Rows are read in no order: what follows one is not wanted.
  ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_RANDOM);
  return std::unique_ptr<RowTable>(new RowTable(file, descriptor));
}

bool RowTable::isForked() const { return process != ownProcess(); }

RowTable::~RowTable() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    closing = true;
  }
  work.notify_all();
  for (std::thread &thread : threads)
    thread.join();
  ::close(descriptor);
}

void RowTable::close(std::unique_ptr<RowTable> table) {
  // A child has no threads of its parent's, and locks as these left them.
  if (table->isForked())
    static_cast<void>(table.release());
}

/// Said of what belongs to the parent of a process.
static std::string forked(const std::string &path) {
  return "'" + path +
         "' was opened before this process was forked: open the table in the "
         "process that reads it";
}

template <typename Index>
static Status placesOf(const Index *numbers, int64_t count, int64_t rows,
                       std::vector<RowFetch::Place> &places) {
  for (int64_t i = 0; i < count; ++i) {
    int64_t row = numbers[i];
    if (row < 0 || row >= rows)
      return Status::error("row " + std::to_string(row) + ", entry " +
                           std::to_string(i) + " of the numbers, is out of " +
                           "range: the table has " + std::to_string(rows) +
                           " rows");
    places.push_back({row, i});
  }
  return Status();
}

Result<std::shared_ptr<RowFetch>> RowTable::start(const void *numbers,
                                                  bool wide, int64_t count) {
  if (isForked())
    return Status::error(forked(file.path));
  if (count > file.memory / file.rowBytes)
    return Status::error(
        std::to_string(count) + " rows of " + std::to_string(file.rowBytes) +
        " bytes are more than the " + std::to_string(file.memory) +
        " bytes that the table may hold: give it more memory, or fetch fewer");
  auto fetch = std::make_shared<RowFetch>();
  fetch->places.reserve(count);
  Status status = wide ? placesOf(static_cast<const int64_t *>(numbers), count,
                                  file.rows, fetch->places)
                       : placesOf(static_cast<const int32_t *>(numbers), count,
                                  file.rows, fetch->places);
  if (!status.ok())
    return status;
  fetch->bytes = count * file.rowBytes;
  {
    std::lock_guard<std::mutex> lock(mutex);
    try {
      while (static_cast<int64_t>(threads.size()) < file.readers)
        threads.emplace_back([this] { read(); });
    } catch (const std::system_error &error) {
      // Fewer threads read as well.
      if (threads.empty())
        return Status::error(std::string("no thread can be made to read '") +
                             file.path + "': " + error.what());
    }
    waiting.push_back(fetch);
    ++counted.fetches;
    counted.rows += count;
  }
  work.notify_one();
  return fetch;
}

bool RowTable::hasRoom() const {
  return !waiting.empty() &&
         counted.held + waiting.front()->bytes <= file.memory;
}

/// A thread's work, until the table is closed.
void RowTable::read() {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    work.wait(lock, [&] { return closing || !shares.empty() || hasRoom(); });
    if (closing)
      return;
    if (!shares.empty()) {
      Share share = std::move(shares.front());
      shares.pop_front();
      std::string failure;
      // Of those that are dropped or have failed nothing more is read.
      if (!share.fetch->dropped && share.fetch->failure.empty()) {
        lock.unlock();
        TableCounts own;
        bool lacksMemory = false;
        try {
          failure = readShare(share, own);
        } catch (const std::bad_alloc &) {
          lacksMemory = true;
        }
        lock.lock();
        if (lacksMemory)
          setLacking(*share.fetch);
        counted.rowsRead += own.rowsRead;
        counted.reads += own.reads;
        counted.bytes += own.bytes;
      }
      finish(*share.fetch, std::move(failure));
      continue;
    }
    std::shared_ptr<RowFetch> fetch = std::move(waiting.front());
    waiting.pop_front();
    fetch->state = RowFetch::reading;
    fetch->holds = true;
    counted.held += fetch->bytes;
    counted.mostHeld = std::max(counted.mostHeld, counted.held);
    takeKept(*fetch);
    ++active;
    ++fetch->shares;
    lock.unlock();
    std::vector<Share> found;
    bool lacksMemory = false;
    try {
      lacksMemory = !plan(fetch, found);
    } catch (const std::bad_alloc &) {
      lacksMemory = true;
    }
    lock.lock();
    if (lacksMemory)
      setLacking(*fetch);
    for (Share &share : found) {
      if (lacksMemory)
        break;
      try {
        shares.push_back(std::move(share));
        ++fetch->shares;
      } catch (const std::bad_alloc &) {
        setLacking(*fetch);
        break;
      }
    }
    finish(*fetch, "");
    work.notify_all();
  }
}

void RowTable::setLacking(RowFetch &fetch) {
  fetch.lacksMemory = true;
  // Short enough to need no memory itself.
  if (fetch.failure.empty())
    fetch.failure = "no memory";
}

/// Gets the memory, and cuts what is to be read. Whether there is memory.
bool RowTable::plan(const std::shared_ptr<RowFetch> &fetch,
                    std::vector<Share> &found) {
  if (!fetch->memory.data()) {
    std::optional<AlignedBuffer> memory = AlignedBuffer::allocate(fetch->bytes);
    if (!memory)
      return false;
    fetch->memory = std::move(*memory);
  }
  std::vector<RowFetch::Place> &places = fetch->places;
  std::sort(places.begin(), places.end(), [](const auto &a, const auto &b) {
    return a.row != b.row ? a.row < b.row : a.at < b.at;
  });
  // Some for each thread, so that none has much to do at the end; but not
  // between rows that one call reads.
  constexpr size_t most = 256;
  size_t many = std::clamp<size_t>(places.size() / (4 * file.readers), 1, most);
  for (size_t first = 0, last; first < places.size(); first = last) {
    last = std::min(first + many, places.size());
    for (; last < places.size(); ++last) {
      int64_t next = places[last].row - places[last - 1].row;
      if (next != 0 &&
          (next - 1 > mostGap / file.rowBytes || last - first >= most))
        break;
    }
    found.push_back({fetch, first, last});
  }
  return true;
}

/// Why it failed, if it did.
std::string RowTable::readShare(const Share &share, TableCounts &counts) {
  const std::vector<RowFetch::Place> &places = share.fetch->places;
  char *memory = static_cast<char *>(share.fetch->memory.data());
  size_t rowBytes = file.rowBytes;
  auto rowAt = [&](size_t i) { return memory + places[i].at * rowBytes; };
  char gap[mostGap];
  std::vector<iovec> parts;
  std::string failure;
  size_t first = share.first;
  while (first < share.last && failure.empty()) {
    // Rows that follow each other closely.
    size_t last = first + 1;
    parts.assign(1, {rowAt(first), rowBytes});
    ++counts.rowsRead;
    for (; last < share.last; ++last) {
      int64_t between = places[last].row - places[last - 1].row - 1;
      if (between < 0)
        continue; // The same row.
      int64_t span = places[last].row + 1 - places[first].row;
      if (between > mostGap / file.rowBytes || parts.size() + 2 > mostParts ||
          span > mostBytes / file.rowBytes)
        break;
      if (between > 0)
        parts.push_back({gap, between * rowBytes});
      parts.push_back({rowAt(last), rowBytes});
      ++counts.rowsRead;
    }
    failure =
        readAll(parts, file.offset + places[first].row * file.rowBytes, counts);
    for (size_t i = first + 1; i < last; ++i)
      if (places[i].row == places[i - 1].row)
        std::memcpy(rowAt(i), rowAt(i - 1), rowBytes);
    first = last;
  }
  return failure;
}

/// Fills the parts with what is in the file from a place on.
std::string RowTable::readAll(std::vector<iovec> &parts, int64_t at,
                              TableCounts &counts) const {
  for (size_t first = 0; first < parts.size();) {
    ssize_t count = ::preadv(descriptor, parts.data() + first,
                             static_cast<int>(parts.size() - first), at);
    if (count < 0 && errno == EINTR)
      continue;
    ++counts.reads;
    if (count <= 0)
      return "'" + file.path + "' cannot be read at byte " +
             std::to_string(at) + ": " +
             (count < 0 ? std::strerror(errno)
                        : "it has become shorter since it was opened");
    at += count;
    counts.bytes += count;
    // It may have stopped anywhere.
    for (size_t left = count; left > 0;) {
      iovec &part = parts[first];
      size_t taken = std::min(left, part.iov_len);
      part.iov_base = static_cast<char *>(part.iov_base) + taken;
      part.iov_len -= taken;
      left -= taken;
      if (part.iov_len == 0)
        ++first;
    }
  }
  return "";
}

/// One share of a fetch is over.
void RowTable::finish(RowFetch &fetch, std::string failure) {
  if (fetch.failure.empty())
    fetch.failure = std::move(failure);
  if (--fetch.shares > 0)
    return;
  --active;
  fetch.state = fetch.failure.empty() ? RowFetch::done : RowFetch::failed;
  if (fetch.dropped)
    release(fetch);
  news.notify_all();
}

void RowTable::release(RowFetch &fetch) {
  if (std::exchange(fetch.holds, false))
    counted.held -= fetch.bytes;
  if (fetch.memory.data()) {
    if (kept.size() == mostKept)
      dropKept();
    keptBytes += fetch.memory.size();
    kept.push_back(std::move(fetch.memory));
  }
  while (!kept.empty() && counted.held + keptBytes > file.memory)
    dropKept();
  work.notify_all();
}

/// Gives a fetch that has begun memory that is there and fits well, and others
/// back for which it leaves no room.
void RowTable::takeKept(RowFetch &fetch) {
  for (size_t i = kept.size(); i-- > 0 && !fetch.memory.data();)
    if (kept[i].size() >= fetch.bytes &&
        kept[i].size() - fetch.bytes <= fetch.bytes / 8) {
      keptBytes -= kept[i].size();
      fetch.memory = std::move(kept[i]);
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
    }
  while (!kept.empty() && counted.held + keptBytes > file.memory)
    dropKept();
}

void RowTable::dropKept() {
  keptBytes -= kept.front().size();
  kept.erase(kept.begin());
}

RowTable::Outcome RowTable::wait(RowFetch &fetch, int64_t nanoseconds,
                                 std::string &failure) {
  using Clock = std::chrono::steady_clock;
  if (isForked()) {
    failure = forked(file.path);
    return Outcome::failed;
  }
  std::unique_lock<std::mutex> lock(mutex);
  auto isOver = [&] {
    return fetch.state == RowFetch::done || fetch.state == RowFetch::failed;
  };
  // Nothing but a thread that holds rows can make room for it: this one, as far
  // as is known.
  auto isStuck = [&] {
    return fetch.state == RowFetch::waiting && active == 0 && !hasRoom();
  };
  Clock::time_point start = Clock::now();
  constexpr int64_t most = int64_t(1) << 60; // Some 36 years.
  auto arrived = [&] { return isOver() || isStuck(); };
  bool known = true;
  if (nanoseconds < 0)
    news.wait(lock, arrived);
  else
    known = news.wait_for(
        lock, std::chrono::nanoseconds(std::min(nanoseconds, most)), arrived);
  counted.waited += (Clock::now() - start) / std::chrono::nanoseconds(1);
  if (!known)
    return Outcome::late;
  if (fetch.state == RowFetch::done)
    return Outcome::rows;
  if (fetch.state == RowFetch::failed) {
    if (!fetch.lacksMemory) {
      failure = fetch.failure;
      return Outcome::failed;
    }
    failure = "there are no " + std::to_string(fetch.bytes) +
              " bytes of memory for rows of '" + file.path + "'";
    return Outcome::lacksMemory;
  }
  failure = "rows of earlier fetches still hold " +
            std::to_string(counted.held) + " of the table's " +
            std::to_string(file.memory) +
            " bytes: give these back, or the table more memory";
  return Outcome::lacksMemory;
}

void RowTable::drop(const std::shared_ptr<RowFetch> &fetch) {
  if (isForked())
    return;
  std::lock_guard<std::mutex> lock(mutex);
  fetch->dropped = true;
  if (fetch->state == RowFetch::waiting)
    waiting.erase(std::find(waiting.begin(), waiting.end(), fetch));
  // What is being read gives its memory back at the end.
  if (fetch->state != RowFetch::reading)
    release(*fetch);
  // What waited behind it may have no room either.
  news.notify_all();
}

TableCounts RowTable::counts() const {
  if (isForked())
    return {};
  std::lock_guard<std::mutex> lock(mutex);
  return counted;
}

} // namespace drawloom::runtime
