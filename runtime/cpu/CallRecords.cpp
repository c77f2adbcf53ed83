//===- CallRecords.cpp - what one call keeps in a store -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/CallRecords.h"
#include <algorithm>
#include <cstring>

namespace drawloom::runtime {

using offload::Outcome, offload::RecordId;

/// Less is not worth a second thread, and more threads copy no faster.
static constexpr uint64_t leastOfPart = uint64_t(1) << 20;
static constexpr uint64_t mostParts = 8;

static bool isRecord(RecordId id) {
  return id.index != 0 || id.generation != 0;
}

CallRecords::~CallRecords() {
  for (size_t value = 0; value < values.size(); ++value)
    drop(value);
}

void CallRecords::check(Outcome outcome, const std::string &why) {
  if (outcome == Outcome::Ready)
    return;
  std::lock_guard<std::mutex> lock(mutex);
  if (failure.ok())
    failure = Status::storageError(why);
}

/// Calls `work` for each part of a value, on the host's threads.
template <typename Work>
void CallRecords::forEachPart(size_t value, Work work) {
  std::vector<Part> &parts = values[value];
  struct Job {
    std::vector<Part> &parts;
    Work &work;
  } job{parts, work};
  void *argument = &job;
  host.parallelFor(
      host.context,
      [](void **arguments, int64_t lo, int64_t hi, void *) {
        auto &job = *static_cast<Job *>(*arguments);
        for (int64_t i = lo; i < hi; ++i)
          job.work(job.parts[static_cast<size_t>(i)]);
      },
      &argument, static_cast<int64_t>(parts.size()));
}

void CallRecords::putPart(size_t value, Part &part, const char *memory) {
  std::string why, site = "value " + std::to_string(value) + " of @" + program;
  // Programs number values as they get them.
  check(store.put(memory + part.begin, part.bytes, site.c_str(), value,
                  /*persistent=*/false, /*nanoseconds=*/-1, part.id, why),
        why);
}

void CallRecords::put(size_t value, const char *memory, uint64_t bytes) {
  std::vector<Part> &parts = values[value];
  uint64_t count = std::clamp<uint64_t>(bytes / leastOfPart, 1, mostParts);
  // Whole units, each of which has a checksum.
  uint64_t each = (bytes / count + leastOfPart - 1) / leastOfPart * leastOfPart;
  parts.clear();
  for (uint64_t begin = 0; begin < bytes || parts.empty(); begin += each)
    parts.push_back({begin, std::min(each, bytes - begin)});
  forEachPart(value, [&](Part &part) { putPart(value, part, memory); });
}

void CallRecords::expect(size_t value) {
  wanted.push_back(value);
  std::vector<RecordId> list;
  for (size_t number : wanted)
    for (const Part &part : values[number])
      list.push_back(part.id);
  std::string why;
  check(store.expect(list.data(), list.size(), why), why);
}

void CallRecords::getPart(const Part &part, char *memory) {
  std::string why;
  uint64_t progress = 0;
  check(store.get(part.id, memory + part.begin, -1, progress, why), why);
}

void CallRecords::get(size_t value, char *memory, uint64_t bytes) {
  wanted.erase(std::remove(wanted.begin(), wanted.end(), value), wanted.end());
  if (values[value].empty())
    check(Outcome::Misused, "@" + program + " awaits value " +
                                std::to_string(value) +
                                ", which it has not stored, or has dropped");
  forEachPart(value, [&](Part &part) { getPart(part, memory); });
  if (!failure.ok())
    std::memset(memory, 0, bytes);
}

void CallRecords::drop(size_t value) {
  std::string why;
  for (const Part &part : values[value])
    if (isRecord(part.id))
      store.drop(part.id, why);
  values[value].clear();
}

void CallRecords::transfer(int64_t kind, size_t value, void *memory,
                           uint64_t bytes) {
  switch (static_cast<DrawloomTransfer>(kind)) {
  case DRAWLOOM_TRANSFER_STORE:
    if (failure.ok())
      put(value, static_cast<const char *>(memory), bytes);
    return;
  case DRAWLOOM_TRANSFER_LOAD:
    if (failure.ok())
      expect(value);
    return;
  case DRAWLOOM_TRANSFER_AWAIT:
    if (failure.ok())
      get(value, static_cast<char *>(memory), bytes);
    else
      std::memset(memory, 0, bytes);
    return;
  case DRAWLOOM_TRANSFER_DROP:
    return drop(value);
  }
}

} // namespace drawloom::runtime
