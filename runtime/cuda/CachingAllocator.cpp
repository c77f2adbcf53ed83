//===- CachingAllocator.cpp - device memory that is kept ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace drawloom::runtime::cuda {

namespace {
/// Whom memory is given again.
struct Owner {
  void *stream = nullptr;
  /// The number of the capture that it belongs to; 0 for none.
  uint64_t capture = 0;
  size_t bytes = 0;

  bool operator<(const Owner &other) const {
    return std::tie(stream, capture, bytes) <
           std::tie(other.stream, other.capture, other.bytes);
  }
};
} // namespace

struct CachingAllocator::State {
  std::mutex mutex;
  std::map<Owner, std::vector<void *>> kept;
  std::unordered_map<void *, Owner> used;
  size_t bytesUsed = 0, bytesKept = 0;

  void *take(const Owner &owner) {
    auto found = kept.find(owner);
    if (found == kept.end())
      return nullptr;
    void *block = found->second.back();
    found->second.pop_back();
    if (found->second.empty())
      kept.erase(found);
    bytesKept -= owner.bytes;
    return block;
  }
};

static constexpr size_t smallest = 512;

/// The size class: four to each power of two, so that at most a quarter is lost
/// and sizes that differ a little share memory. 0 where there is none.
static size_t sizeClass(size_t bytes) {
  if (bytes <= smallest)
    return smallest;
  if (bytes > size_t(1) << 46)
    return 0;
  size_t power = size_t(1) << (63 - __builtin_clzll(bytes));
  size_t step = power / 4;
  return (bytes + step - 1) / step * step;
}

CachingAllocator::CachingAllocator(std::shared_ptr<Device> device)
    : device(std::move(device)), state(std::make_unique<State>()) {}

CachingAllocator::~CachingAllocator() {
  // Nobody can release what is in use any more.
  for (const auto &[block, owner] : state->used) {
    state->kept[owner].push_back(block);
    state->bytesKept += owner.bytes;
  }
  (void)giveBack(/*graphsToo=*/true).ok();
}

Status CachingAllocator::trim() { return giveBack(/*graphsToo=*/false); }

Status CachingAllocator::giveBack(bool graphsToo) {
  std::lock_guard<std::mutex> lock(state->mutex);
  std::vector<std::pair<void *, size_t>> blocks;
  for (auto entry = state->kept.begin(); entry != state->kept.end();) {
    const Owner &owner = entry->first;
    // Graphs go on using what belongs to their captures.
    if (owner.capture && !graphsToo) {
      ++entry;
      continue;
    }
    for (void *block : entry->second)
      blocks.push_back({block, owner.bytes});
    entry = state->kept.erase(entry);
  }
  if (blocks.empty())
    return {};
  const Api &api = device->driver->api();
  CurrentContext current(api, device->context);
  int code = current.code;
  // Work that uses the memory may still be running.
  if (code == success)
    code = api.contextSynchronize();
  bool mayFree = code == success;
  for (auto [block, bytes] : blocks) {
    state->bytesKept -= bytes;
    if (!mayFree)
      continue;
    if (int freed = api.memoryFree(reinterpret_cast<DevicePointer>(block)))
      code = freed;
  }
  if (code == success)
    return {};
  return Status::error(
      "device memory cannot be given back: " + device->driver->describe(code) +
      ". " + device->state->lastLaunch());
}

Result<void *> CachingAllocator::allocate(size_t bytes, void *stream) {
  if (bytes == 0)
    return static_cast<void *>(nullptr);
  auto failed = [&](const std::string &why) {
    return Status::error(std::to_string(bytes) + " bytes of memory on " +
                         device->name() + " cannot be had: " + why);
  };
  size_t size = sizeClass(bytes);
  if (!size)
    return failed("no device has as much");
  const Api &api = device->driver->api();
  CurrentContext current(api, device->context);
  int code = current.code;
  Owner owner{stream, code == success ? captureOf(api, stream) : 0, size};
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    if (void *block = state->take(owner)) {
      state->bytesUsed += size;
      state->used[block] = owner;
      return block;
    }
  }
  DevicePointer address = 0;
  if (code == success && owner.capture) {
    // Captures forbid what may wait for the device, unless a thread says that
    // it knows what it does: nobody waits for memory that is new.
    int mode = captureRelaxed;
    code = api.exchangeCaptureMode(&mode);
    if (code == success) {
      code = api.memoryAllocate(&address, size);
      (void)api.exchangeCaptureMode(&mode);
    }
  } else if (code == success) {
    code = api.memoryAllocate(&address, size);
    if (code == outOfMemory) {
      if (Status status = trim(); !status.ok())
        return failed(status.message());
      code = api.memoryAllocate(&address, size);
    }
  }
  if (code != success)
    return failed(device->driver->describe(code) + ", " +
                  std::to_string(bytesInUse()) + " bytes are in use here");
  void *block = reinterpret_cast<void *>(address);
  std::lock_guard<std::mutex> lock(state->mutex);
  state->bytesUsed += size;
  state->used[block] = owner;
  return block;
}

void CachingAllocator::release(void *memory, void *stream) {
  if (!memory)
    return;
  std::lock_guard<std::mutex> lock(state->mutex);
  auto found = state->used.find(memory);
  if (found == state->used.end())
    return;
  Owner owner = found->second;
  // Of a capture, it stays the capture's, whatever the stream does now.
  if (owner.capture == 0)
    owner.stream = stream;
  state->bytesUsed -= owner.bytes;
  state->bytesKept += owner.bytes;
  state->kept[owner].push_back(memory);
  state->used.erase(found);
}

size_t CachingAllocator::bytesInUse() const {
  std::lock_guard<std::mutex> lock(state->mutex);
  return state->bytesUsed;
}

size_t CachingAllocator::bytesKept() const {
  std::lock_guard<std::mutex> lock(state->mutex);
  return state->bytesKept;
}

} // namespace drawloom::runtime::cuda
