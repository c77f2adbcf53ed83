//===- offload.cpp - what the devices of offload take and give ------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// drawloom-offload-bench DEVICE FOLDER BYTES: opens a file by the device
// "io_uring" or "threads", writes all of it once, and obeys lines of its input,
// so that `drawloom-bench offload` can let contenders take turns:
//
//   store DEPTH        writes BYTES in pieces of 64 MiB, by transfers of 1 MiB
//   load DEPTH         reads them
//   put DEPTH          the same with a copy and a checksum of each transfer
//   get DEPTH          the same with a checksum of each transfer, compared
//   random DEPTH COUNT reads blocks of 4 KiB at random places
//   prepare LINE       what has to be done before that line, and does not count
//
// Answers each by the seconds that passed, and those of processors.
//
// "store:io_uring" and "store:threads" are the whole store instead, as
// drawloom-c/offload.h has it: `put` drops what there is, puts records of 64
// MiB and waits until all are written; `get` borrows them one after the other.
// "copy" needs no disk: `put` copies pieces of 1 MiB with their checksums, and
// `get` sums them, which is what a put and a get cannot do without.
//
//===----------------------------------------------------------------------===//

#include "runtime/offload/Checksum.h"
#include "runtime/offload/Devices.h"
#include "runtime/offload/Store.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <sstream>
#include <sys/mman.h>
#include <sys/resource.h>
#include <vector>

using namespace drawloom::runtime::offload;

namespace {

constexpr uint64_t unit = 1 << 20, piece = 64 * unit, row = 4096;

[[noreturn]] void fail(const std::string &why) {
  std::fprintf(stderr, "drawloom-offload-bench: %s\n", why.c_str());
  std::exit(1);
}

unsigned char *pages(uint64_t bytes) {
  void *memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    fail("no memory");
  std::memset(memory, 1, bytes);
  return static_cast<unsigned char *>(memory);
}

/// User's and system's, of all threads.
double processorSeconds() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  auto seconds = [](const timeval &time) {
    return static_cast<double>(time.tv_sec) +
           static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

void fillAtRandom(unsigned char *memory, uint64_t bytes) {
  std::mt19937_64 random(1);
  for (uint64_t i = 0; i < bytes; i += 8) {
    uint64_t word = random();
    std::memcpy(memory + i, &word, 8);
  }
}

/// What takes turns.
struct Contender {
  virtual ~Contender() = default;
  /// Before a turn, which does not count.
  virtual void prepare(const std::string &what) {}
  virtual void obey(const std::string &what, unsigned depth,
                    uint64_t count) = 0;
};

class Bench : public Contender {
public:
  Bench(const std::string &name, const std::string &folder, uint64_t bytes)
      : bytes(bytes), sums(bytes / unit) {
    auto made = makeDevice(name, nullptr);
    if (!made.ok())
      fail(made.message());
    device = std::move(*made);
    auto facts = device->open(folder, bytes);
    if (!facts.ok())
      fail(facts.message());
    std::fprintf(stderr, "%s: %s, alignment %u, limitations \"%s\"\n",
                 folder.c_str(), facts->fileSystem.c_str(), facts->alignment,
                 facts->limitations.c_str());
    tensors = pages(2 * piece);
    staging = pages(piece);
    device->registerMemory(staging, piece);
    fillAtRandom(tensors, 2 * piece);
    run(Transfer::Kind::Write, 16, true);
  }

  void obey(const std::string &what, unsigned depth, uint64_t count) override {
    if (what == "store" || what == "put")
      run(Transfer::Kind::Write, depth, what == "put");
    else if (what == "load" || what == "get")
      run(Transfer::Kind::Read, depth, what == "get");
    else if (what == "random")
      readRows(depth, count);
    else
      fail("what is '" + what + "'?");
  }

private:
  /// Stores or loads all, with copies and sums or without.
  void run(Transfer::Kind kind, unsigned depth, bool withSums) {
    bool isWrite = kind == Transfer::Kind::Write;
    std::vector<unsigned char *> places;
    for (unsigned i = 0; i < depth; ++i)
      places.push_back(staging + i * unit);
    std::vector<Place> used(bytes / unit);
    for (uint64_t number = 0; number < bytes / unit; ++number) {
      while (places.empty())
        reap(isWrite, withSums, used, places);
      unsigned char *memory = places.back();
      places.pop_back();
      if (isWrite && withSums)
        sums[number] =
            copyWithCrc32c(memory, tensors + number * unit % (2 * piece), unit);
      used[number] = memory;
      Transfer transfer{number, kind, 0, number * unit, memory, unit};
      device->submit(&transfer, 1);
    }
    while (device->underWay() > 0)
      reap(isWrite, withSums, used, places);
  }

  void readRows(unsigned depth, uint64_t count) {
    std::mt19937_64 random(2);
    std::vector<Completion> completions(depth);
    std::vector<Transfer> next(depth);
    for (unsigned i = 0; i < depth; ++i)
      next[i] = {i, Transfer::Kind::Read, 0, 0, staging + i * row, row};
    std::vector<Transfer> all = next;
    for (uint64_t begun = 0, over = 0; over < count;) {
      next.resize(std::min<uint64_t>(next.size(), count - begun));
      for (Transfer &transfer : next)
        transfer.offset = random() % (bytes / row) * row;
      begun += next.size();
      device->submit(next.data(), next.size());
      next.clear();
      size_t got = device->reap(completions.data(), depth, UINT64_MAX);
      over += got;
      for (size_t i = 0; i < got; ++i) {
        if (completions[i].result != row)
          fail("a row was not read");
        next.push_back(all[completions[i].id]);
      }
    }
  }

  using Place = unsigned char *;
  void reap(bool isWrite, bool withSums, const std::vector<Place> &used,
            std::vector<Place> &places) {
    Completion completions[64];
    size_t got = device->reap(completions, 64, UINT64_MAX);
    for (size_t i = 0; i < got; ++i) {
      auto [id, result] = completions[i];
      if (result != static_cast<int64_t>(unit))
        fail("a transfer came back with " + std::to_string(result));
      if (!isWrite && withSums && crc32c(used[id], unit) != sums[id])
        fail("other bytes came back");
      places.push_back(used[id]);
    }
  }

  const uint64_t bytes;
  std::unique_ptr<Device> device;
  std::vector<uint32_t> sums;
  unsigned char *tensors, *staging;
};

class WholeStore : public Contender {
public:
  WholeStore(const std::string &device, const std::string &folder,
             uint64_t bytes)
      : records(bytes / piece), tensors(pages(2 * piece)) {
    fillAtRandom(tensors, 2 * piece);
    StoreOptions options;
    options.folders = {folder};
    // One more: what is dropped may still be under way.
    options.capacity = bytes + (others.size() + 1) * piece;
    options.device = device;
    auto opened = Store::open(options);
    if (!opened.ok())
      fail(opened.message());
    store = std::move(*opened);
    // The first to touch memory pays for its pages.
    put();
    prepare("get");
    get();
  }
  ~WholeStore() override {
    drawloom::runtime::Status closed = Store::close(std::move(store), -1);
    if (!closed.ok())
      fail(closed.message());
  }

  void prepare(const std::string &what) override {
    if (what == "get")
      forget();
  }
  void obey(const std::string &what, unsigned, uint64_t) override {
    if (what == "put")
      put();
    else if (what == "get")
      get();
    else
      fail("a store puts and gets, but does not know '" + what + "'");
  }

private:
  void check(Outcome outcome) const {
    if (outcome != Outcome::Ready)
      fail(why);
  }
  void put() {
    uint64_t before = store->counts().written;
    for (RecordId &record : records)
      if (record.generation != 0)
        check(store->drop(std::exchange(record, RecordId()), why));
    for (size_t i = 0; i < records.size(); ++i)
      check(store->put(tensors + i % 2 * piece, piece, "tensor", i, false, -1,
                       records[i], why));
    check(store->finish(-1, why));
    if (store->counts().written - before != records.size() * piece)
      fail("not all was written");
  }
  void get() {
    StoreCounts before = store->counts();
    borrow(records);
    StoreCounts after = store->counts();
    if (after.read - before.read != records.size() * piece)
      fail("not all was read: some of it was in memory");
  }
  /// Has other records in all of the store's memory, of which it reads nothing
  /// again.
  void forget() {
    for (RecordId &record : others) {
      if (record.generation != 0)
        check(store->drop(std::exchange(record, RecordId()), why));
      check(store->put(tensors, piece, "other", 0, false, -1, record, why));
    }
    check(store->finish(-1, why));
    borrow(others);
  }
  void borrow(const std::vector<RecordId> &ids) {
    check(store->expect(ids.data(), ids.size(), why));
    for (RecordId record : ids) {
      void *data = nullptr;
      check(store->borrow(record, -1, data, why));
      drawloom::runtime::Status returned = store->giveBack(data);
      if (!returned.ok())
        fail(returned.message());
    }
  }

  std::unique_ptr<Store> store;
  std::vector<RecordId> records, others = std::vector<RecordId>(6);
  unsigned char *const tensors;
  std::string why;
};

/// The part of puts and gets that touches each byte.
class Copies : public Contender {
public:
  explicit Copies(uint64_t bytes)
      : bytes(bytes), from(pages(bytes)), to(pages(bytes)) {
    fillAtRandom(from, bytes);
    obey("put", 0, 0);
  }
  void obey(const std::string &what, unsigned, uint64_t) override {
    for (uint64_t at = 0; at < bytes; at += unit)
      if (what == "put")
        sum = copyWithCrc32c(to + at, from + at, unit);
      else
        sum = crc32c(to + at, unit);
  }

private:
  const uint64_t bytes;
  unsigned char *const from, *const to;
  volatile uint32_t sum = 0;
};

std::unique_ptr<Contender> make(const std::string &name,
                                const std::string &folder, uint64_t bytes) {
  if (name == "copy")
    return std::make_unique<Copies>(bytes);
  if (name.rfind("store:", 0) == 0)
    return std::make_unique<WholeStore>(name.substr(6), folder, bytes);
  return std::make_unique<Bench>(name, folder, bytes);
}

} // namespace

int main(int count, char **arguments) {
  if (count != 4)
    fail("DEVICE FOLDER BYTES");
  uint64_t bytes = std::strtoull(arguments[3], nullptr, 10) / piece * piece;
  if (bytes == 0)
    fail("BYTES are 64 MiB at least");
  std::unique_ptr<Contender> contender =
      make(arguments[1], arguments[2], bytes);
  std::printf("ready\n");
  std::fflush(stdout);
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string what;
    unsigned depth = 16;
    uint64_t rows = 0;
    words >> what;
    if (what == "prepare") {
      words >> what;
      contender->prepare(what);
      std::printf("0 0\n");
      std::fflush(stdout);
      continue;
    }
    words >> depth >> rows;
    if (depth < 1 || depth > (what == "random" ? 256 : 64))
      fail("a depth is 1 to 64, of rows to 256");
    uint64_t begin = nanoseconds();
    double before = processorSeconds();
    contender->obey(what, depth, rows);
    std::printf("%.6f %.6f\n",
                static_cast<double>(nanoseconds() - begin) * 1e-9,
                processorSeconds() - before);
    std::fflush(stdout);
  }
}
