//===- CachingAllocator.cpp - device memory that is kept ------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include <map>
#include <unordered_map>

namespace drawloom::runtime::cuda {

struct CachingAllocator::State {
  std::mutex mutex;
  /// What is kept, by stream and size.
  std::map<std::pair<void *, size_t>, std::vector<void *>> kept;
  std::unordered_map<void *, size_t> used;
  size_t bytesUsed = 0, bytesKept = 0;
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
  // Memory in use belongs to somebody who did not release it; it goes with the
  // context.
  (void)trim().ok();
}

Status CachingAllocator::trim() {
  std::lock_guard<std::mutex> lock(state->mutex);
  if (state->kept.empty())
    return {};
  const Api &api = device->driver->api();
  CurrentContext current(api, device->context);
  int code = current.code;
  // Work that uses the memory may still be running.
  if (code == success)
    code = api.contextSynchronize();
  if (code == success)
    for (auto &[key, blocks] : state->kept)
      for (void *block : blocks)
        if (int freed = api.memoryFree(reinterpret_cast<DevicePointer>(block)))
          code = freed;
  state->kept.clear();
  state->bytesKept = 0;
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
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    auto found = state->kept.find({stream, size});
    if (found != state->kept.end()) {
      void *block = found->second.back();
      found->second.pop_back();
      if (found->second.empty())
        state->kept.erase(found);
      state->bytesKept -= size;
      state->bytesUsed += size;
      state->used[block] = size;
      return block;
    }
  }
  const Api &api = device->driver->api();
  CurrentContext current(api, device->context);
  int code = current.code;
  DevicePointer address = 0;
  if (code == success)
    code = api.memoryAllocate(&address, size);
  if (code == outOfMemory) {
    if (Status status = trim(); !status.ok())
      return failed(status.message());
    code = api.memoryAllocate(&address, size);
  }
  if (code != success)
    return failed(device->driver->describe(code) + ", " +
                  std::to_string(bytesInUse()) + " bytes are in use here");
  void *block = reinterpret_cast<void *>(address);
  std::lock_guard<std::mutex> lock(state->mutex);
  state->bytesUsed += size;
  state->used[block] = size;
  return block;
}

void CachingAllocator::release(void *memory, void *stream) {
  if (!memory)
    return;
  std::lock_guard<std::mutex> lock(state->mutex);
  auto found = state->used.find(memory);
  if (found == state->used.end())
    return;
  state->bytesUsed -= found->second;
  state->bytesKept += found->second;
  state->kept[{stream, found->second}].push_back(memory);
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

Allocator CachingAllocator::callbacks() {
  Allocator result;
  result.context = this;
  result.allocate = [](void *context, size_t bytes, void *stream) -> void * {
    Result<void *> memory =
        static_cast<CachingAllocator *>(context)->allocate(bytes, stream);
    return memory.ok() ? *memory : nullptr;
  };
  result.release = [](void *context, void *memory, void *stream) {
    static_cast<CachingAllocator *>(context)->release(memory, stream);
  };
  return result;
}

} // namespace drawloom::runtime::cuda
