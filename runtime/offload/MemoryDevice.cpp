//===- MemoryDevice.cpp - files that are memory ---------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/offload/MemoryDevice.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace drawloom::runtime::offload {

MemoryDevice::MemoryDevice(const MemoryDeviceOptions &options)
    : options(options), random(options.seed) {}

uint64_t MemoryDevice::now() const {
  if (options.virtualTime)
    return time;
  return static_cast<uint64_t>(
      std::chrono::steady_clock::now().time_since_epoch() /
      std::chrono::nanoseconds(1));
}

Result<FileFacts> MemoryDevice::open(const std::string &folder,
                                     uint64_t bytes) {
  // Pages that are not used yet take no memory.
  char *memory =
      static_cast<char *>(std::calloc(std::max<uint64_t>(bytes, 1), 1));
  if (!memory)
    return Status::error("there are no " + std::to_string(bytes) +
                         " bytes of memory for '" + folder + "'");
  files.emplace_back();
  files.back().memory.reset(memory);
  files.back().bytes = bytes;
  FileFacts facts;
  facts.folder = folder;
  facts.fileSystem = "memory";
  facts.device = files.size();
  facts.alignment = options.alignment;
  facts.direct = facts.nameless = facts.reserved = true;
  return facts;
}

/// Finds a transfer that is wrong.
void MemoryDevice::check(const Transfer &transfer) {
  auto meets = [](auto first, uint64_t firstCount, auto second,
                  uint64_t secondCount) {
    return first < second + secondCount && second < first + firstCount;
  };
  auto mistake = [&](const char *what) {
    if (found.empty())
      found = std::string(what) + ": " + std::to_string(transfer.count) +
              " bytes at " + std::to_string(transfer.offset) + " of file " +
              std::to_string(transfer.file);
  };
  if (transfer.file >= files.size() ||
      transfer.offset + transfer.count > files[transfer.file].bytes)
    return mistake("a transfer outside of the file");
  if (transfer.count == 0 || (transfer.offset | transfer.count |
                              reinterpret_cast<uintptr_t>(transfer.memory)) %
                                     options.alignment !=
                                 0)
    return mistake("a transfer that is not aligned");
  for (const Transfer &other : pending) {
    bool writes = transfer.kind == Transfer::Kind::Write ||
                  other.kind == Transfer::Kind::Write;
    bool reads = transfer.kind == Transfer::Kind::Read ||
                 other.kind == Transfer::Kind::Read;
    if (other.id == transfer.id)
      mistake("two transfers of one number");
    if (writes && other.file == transfer.file &&
        meets(transfer.offset, transfer.count, other.offset, other.count))
      mistake("a place of the file that is written meanwhile");
    if (reads && meets(static_cast<char *>(transfer.memory), transfer.count,
                       static_cast<char *>(other.memory), other.count))
      mistake("memory that is read to meanwhile");
  }
}

void MemoryDevice::submit(const Transfer *transfers, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    check(transfers[i]);
    pending.push_back(transfers[i]);
  }
}

void MemoryDevice::cancel(uint64_t id) {
  // In some orders it comes too late.
  if (options.seed != 0 && random() % 2 == 0)
    return;
  for (size_t i = 0; i < pending.size(); ++i)
    if (pending[i].id == id) {
      pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(i));
      done.push_back({id, -ECANCELED});
      return;
    }
}

/// Bytes are moved as late as they may be.
Completion MemoryDevice::perform(const Transfer &transfer) {
  if (transfer.file >= files.size() ||
      transfer.offset + transfer.count > files[transfer.file].bytes)
    return {transfer.id, -EINVAL};
  char *place = files[transfer.file].memory.get() + transfer.offset;
  if (transfer.kind == Transfer::Kind::Write)
    std::memcpy(place, transfer.memory, transfer.count);
  else
    std::memcpy(transfer.memory, place, transfer.count);
  return {transfer.id, static_cast<int64_t>(transfer.count)};
}

size_t MemoryDevice::reap(Completion *completions, size_t most,
                          uint64_t until) {
  size_t count = 0;
  while (count < most && !done.empty()) {
    completions[count++] = done.back();
    done.pop_back();
  }
  while (count < most && !pending.empty()) {
    if (options.virtualTime) {
      // Transfers take time: those that are not over by then come back later.
      if (count != 0 || time + options.transferTime > until)
        break;
      time += options.transferTime;
    }
    size_t next = options.seed == 0 ? 0 : random() % pending.size();
    completions[count++] = perform(pending[next]);
    pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(next));
  }
  if (options.virtualTime) {
    if (count == 0 && !isWoken && until != UINT64_MAX)
      time = std::max(time, until);
    isWoken = false;
    return count;
  }
  std::unique_lock<std::mutex> lock(mutex);
  if (count == 0) {
    auto isOver = [&] { return isWoken; };
    uint64_t start = now();
    if (until == UINT64_MAX)
      woken.wait(lock, isOver);
    else if (until > start)
      woken.wait_for(lock, std::chrono::nanoseconds(until - start), isOver);
  }
  isWoken = false;
  return count;
}

void MemoryDevice::wake() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    isWoken = true;
  }
  woken.notify_all();
}

} // namespace drawloom::runtime::offload
