//===- Memory.cpp - allocations, copies and fills ------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include <cstdlib>
#include <cstring>

using namespace drawloom;
using namespace drawloom::driver;

// Behind and before each allocation, so that an access a little out of bounds
// is none of another allocation.
static constexpr size_t gap = 4096;

static int allocate(Driver &driver, DevicePointer *pointer, size_t bytes) {
  if (!pointer || bytes == 0)
    return InvalidValue;
  if (driver.isForbiddenInCapture())
    return CaptureUnsupported;
  ++driver.allocationsMade;
  if (std::optional<int> after =
          variableNames("DRAWLOOM_EMULATED_FAULT", "out-of-memory"))
    if (driver.allocationsMade > *after)
      return OutOfMemory;
  if (bytes > size_t(8) << 30)
    return OutOfMemory;
  size_t padded = (bytes + 2 * gap + 255) / 256 * 256;
  void *start = std::aligned_alloc(256, padded);
  if (!start)
    return OutOfMemory;
  // Nobody may rely on what new memory holds.
  std::memset(start, 0xff, padded);
  char *data = static_cast<char *>(start) + gap;
  *pointer = reinterpret_cast<uintptr_t>(data);
  DeviceState &device = driver.current();
  driver.allocations[*pointer] = {start, *pointer, bytes,
                                  device.primary.device};
  device.memory.add(data, static_cast<int64_t>(bytes));
  return Success;
}

static void release(Driver &driver, DevicePointer pointer) {
  auto found = driver.allocations.find(pointer);
  if (found == driver.allocations.end())
    return;
  driver.devices[static_cast<size_t>(found->second.device)].memory.remove(
      reinterpret_cast<void *>(pointer));
  std::free(found->second.start);
  driver.allocations.erase(found);
}

DRAWLOOM_CUDA_API cuMemAlloc_v2(DevicePointer *pointer, size_t bytes) {
  Call call;
  return allocate(call.driver, pointer, bytes);
}

DRAWLOOM_CUDA_API cuMemFree_v2(DevicePointer pointer) {
  Call call;
  if (pointer == 0)
    return Success;
  if (!call.driver.allocations.count(pointer))
    return InvalidValue;
  if (call.driver.isForbiddenInCapture())
    return CaptureUnsupported;
  // As the real one, it waits for what may still use the memory.
  call.driver.runAll();
  release(call.driver, pointer);
  return call.driver.failure;
}

DRAWLOOM_CUDA_API cuMemAllocAsync(DevicePointer *pointer, size_t bytes,
                                  void *stream) {
  Call call;
  return call.driver.stream(stream) ? allocate(call.driver, pointer, bytes)
                                    : int(InvalidHandle);
}

DRAWLOOM_CUDA_API cuMemFreeAsync(DevicePointer pointer, void *stream) {
  Call call;
  Stream *queue = call.driver.stream(stream);
  if (!queue)
    return InvalidHandle;
  if (!call.driver.allocations.count(pointer))
    return InvalidValue;
  Driver *driver = &call.driver;
  return driver->enqueue(*queue, [=] { release(*driver, pointer); });
}

DRAWLOOM_CUDA_API cuMemAllocHost_v2(void **pointer, size_t bytes) {
  Call call;
  DevicePointer made = 0;
  int result = allocate(call.driver, &made, bytes);
  *pointer = reinterpret_cast<void *>(made);
  return result;
}

DRAWLOOM_CUDA_API cuMemHostAlloc(void **pointer, size_t bytes, unsigned) {
  return cuMemAllocHost_v2(pointer, bytes);
}

DRAWLOOM_CUDA_API cuMemFreeHost(void *pointer) {
  return cuMemFree_v2(reinterpret_cast<uintptr_t>(pointer));
}

DRAWLOOM_CUDA_API cuMemGetInfo_v2(size_t *available, size_t *total) {
  Call call;
  *total = size_t(8) << 30;
  size_t used = 0;
  int device = call.driver.current().primary.device;
  for (const auto &[pointer, allocation] : call.driver.allocations)
    if (allocation.device == device)
      used += allocation.bytes;
  *available = used > *total ? 0 : *total - used;
  return Success;
}

DRAWLOOM_CUDA_API cuMemGetAddressRange_v2(DevicePointer *base, size_t *bytes,
                                          DevicePointer pointer) {
  Call call;
  const Allocation *found = call.driver.find(pointer);
  if (!found)
    return InvalidValue;
  if (base)
    *base = found->data;
  if (bytes)
    *bytes = found->bytes;
  return Success;
}

DRAWLOOM_CUDA_API cuPointerGetAttribute(void *data, int attribute,
                                        DevicePointer pointer) {
  Call call;
  const Allocation *found = call.driver.find(pointer);
  if (!found && !isSet("DRAWLOOM_EMULATED_HOST_POINTERS"))
    return InvalidValue;
  switch (attribute) {
  case 1: // CONTEXT
    *static_cast<void **>(data) =
        &call.driver.devices[found ? static_cast<size_t>(found->device) : 0]
             .primary;
    return Success;
  case 2: // MEMORY_TYPE: device
    *static_cast<unsigned *>(data) = 2;
    return Success;
  case 3: // DEVICE_POINTER
  case 4: // HOST_POINTER
    *static_cast<DevicePointer *>(data) = pointer;
    return Success;
  case 8: // IS_MANAGED
    *static_cast<unsigned *>(data) = 0;
    return Success;
  case 9: // DEVICE_ORDINAL
    *static_cast<int *>(data) = found ? found->device : 0;
    return Success;
  case 11: // RANGE_START_ADDR
    *static_cast<DevicePointer *>(data) = found ? found->data : 0;
    return Success;
  case 12: // RANGE_SIZE
    *static_cast<size_t *>(data) = found ? found->bytes : 0;
    return Success;
  default:
    return NotSupported;
  }
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Device memory, or what counts as it.
static bool isDevice(Driver &driver, DevicePointer pointer, size_t bytes) {
  return driver.holds(pointer, bytes) ||
         (!driver.find(pointer) && isSet("DRAWLOOM_EMULATED_HOST_POINTERS"));
}

static int copy(void *to, const void *from, size_t bytes, void *stream,
                bool checkTo, bool checkFrom, bool wait) {
  Call call;
  Driver &driver = call.driver;
  Stream *queue = driver.stream(stream);
  if (!queue)
    return InvalidHandle;
  if (driver.failure)
    return driver.failure;
  if (bytes == 0)
    return Success;
  if (!to || !from ||
      (checkTo && !isDevice(driver, reinterpret_cast<uintptr_t>(to), bytes)) ||
      (checkFrom &&
       !isDevice(driver, reinterpret_cast<uintptr_t>(from), bytes)))
    return InvalidValue;
  if (wait && driver.anyCapture())
    return CaptureUnsupported;
  ++driver.copiesMade;
  std::optional<int> before =
      variableNames("DRAWLOOM_EMULATED_FAULT", "copy-failure");
  bool fails = before && driver.copiesMade > *before;
  Driver *state = &driver;
  Result result = driver.enqueue(*queue, [=] {
    if (fails)
      state->failure = LaunchFailed;
    else if (!state->failure)
      std::memcpy(to, from, bytes);
  });
  return result || !wait ? result : driver.synchronize();
}

static void *host(DevicePointer pointer) {
  return reinterpret_cast<void *>(pointer);
}

DRAWLOOM_CUDA_API cuMemcpyHtoD_v2(DevicePointer to, const void *from,
                                  size_t bytes) {
  return copy(host(to), from, bytes, nullptr, true, false, true);
}
DRAWLOOM_CUDA_API cuMemcpyDtoH_v2(void *to, DevicePointer from, size_t bytes) {
  return copy(to, host(from), bytes, nullptr, false, true, true);
}
DRAWLOOM_CUDA_API cuMemcpyDtoD_v2(DevicePointer to, DevicePointer from,
                                  size_t bytes) {
  return copy(host(to), host(from), bytes, nullptr, true, true, true);
}
DRAWLOOM_CUDA_API cuMemcpy(DevicePointer to, DevicePointer from, size_t bytes) {
  return copy(host(to), host(from), bytes, nullptr, false, false, true);
}
DRAWLOOM_CUDA_API cuMemcpyHtoDAsync_v2(DevicePointer to, const void *from,
                                       size_t bytes, void *stream) {
  return copy(host(to), from, bytes, stream, true, false, false);
}
DRAWLOOM_CUDA_API cuMemcpyDtoHAsync_v2(void *to, DevicePointer from,
                                       size_t bytes, void *stream) {
  return copy(to, host(from), bytes, stream, false, true, false);
}
DRAWLOOM_CUDA_API cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from,
                                       size_t bytes, void *stream) {
  return copy(host(to), host(from), bytes, stream, true, true, false);
}
DRAWLOOM_CUDA_API cuMemcpyAsync(DevicePointer to, DevicePointer from,
                                size_t bytes, void *stream) {
  return copy(host(to), host(from), bytes, stream, false, false, false);
}

template <typename T>
static int fill(DevicePointer to, T value, size_t count, void *stream,
                bool wait) {
  Call call;
  Driver &driver = call.driver;
  Stream *queue = driver.stream(stream);
  if (!queue)
    return InvalidHandle;
  if (driver.failure)
    return driver.failure;
  if (count == 0)
    return Success;
  if (to % sizeof(T) != 0 || count > SIZE_MAX / sizeof(T) ||
      !isDevice(driver, to, count * sizeof(T)))
    return InvalidValue;
  if (wait && driver.anyCapture())
    return CaptureUnsupported;
  Result result = driver.enqueue(
      *queue, [=] { std::fill_n(reinterpret_cast<T *>(to), count, value); });
  return result || !wait ? result : driver.synchronize();
}

DRAWLOOM_CUDA_API cuMemsetD8_v2(DevicePointer to, uint8_t value, size_t n) {
  return fill(to, value, n, nullptr, true);
}
DRAWLOOM_CUDA_API cuMemsetD16_v2(DevicePointer to, uint16_t value, size_t n) {
  return fill(to, value, n, nullptr, true);
}
DRAWLOOM_CUDA_API cuMemsetD32_v2(DevicePointer to, uint32_t value, size_t n) {
  return fill(to, value, n, nullptr, true);
}
DRAWLOOM_CUDA_API cuMemsetD8Async(DevicePointer to, uint8_t value, size_t n,
                                  void *stream) {
  return fill(to, value, n, stream, false);
}
DRAWLOOM_CUDA_API cuMemsetD16Async(DevicePointer to, uint16_t value, size_t n,
                                   void *stream) {
  return fill(to, value, n, stream, false);
}
DRAWLOOM_CUDA_API cuMemsetD32Async(DevicePointer to, uint32_t value, size_t n,
                                   void *stream) {
  return fill(to, value, n, stream, false);
}
