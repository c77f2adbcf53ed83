//===- FakeCuda.cpp - a CUDA driver that keeps a record -------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

static FakeCuda fake;
static std::mutex mutex;
static std::map<unsigned long long, size_t> blocks;
static thread_local void *currentContext = nullptr;

extern "C" {

FakeCuda *fakeCuda() { return &fake; }

int cuInit(unsigned) { return fake.initCode; }
int cuDriverGetVersion(int *version) {
  *version = fake.version;
  return 0;
}
int cuGetErrorName(int code, const char **name) {
  *name = code == 700   ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : code == 200 ? "CUDA_ERROR_INVALID_IMAGE"
          : code == 209 ? "CUDA_ERROR_NO_BINARY_FOR_GPU"
          : code == 222 ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
          : code == 2   ? "CUDA_ERROR_OUT_OF_MEMORY"
                        : nullptr;
  return *name ? 0 : 1;
}
int cuGetErrorString(int code, const char **text) {
  *text = code == 700 ? "an illegal memory access was encountered" : nullptr;
  return *text ? 0 : 1;
}
int cuDeviceGetCount(int *count) {
  *count = fake.devices;
  return 0;
}
int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return 0;
}
int cuDeviceGetName(char *name, int size, int) {
  std::snprintf(name, static_cast<size_t>(size), "Fake GPU");
  return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int) {
  switch (attribute) {
  case 5:
    *value = 2147483647;
    return 0;
  case 6:
  case 7:
    *value = 65535;
    return 0;
  case 75:
    *value = fake.capability / 10;
    return 0;
  case 76:
    *value = fake.capability % 10;
    return 0;
  case 88:
    *value = fake.pageable;
    return 0;
  case 97:
    *value = 232448;
    return 0;
  default:
    *value = 1;
    return 0;
  }
}
int cuDevicePrimaryCtxRetain(void **context, int) {
  *context = &fake;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxGetCurrent(void **context) {
  *context = currentContext;
  return 0;
}
int cuCtxPushCurrent_v2(void *context) {
  currentContext = context;
  ++fake.pushed;
  return 0;
}
int cuCtxPopCurrent_v2(void **context) {
  *context = currentContext;
  currentContext = nullptr;
  --fake.pushed;
  return 0;
}
int cuCtxGetDevice(int *device) {
  *device = 0;
  return currentContext ? 0 : 201;
}
int cuCtxSynchronize() {
  ++fake.synchronizations;
  return fake.synchronizeCode;
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes,
                         void *) {
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return 0;
}
int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes,
                         void *) {
  std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
  return 0;
}
int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from,
                         size_t bytes, void *) {
  std::memcpy(reinterpret_cast<void *>(to),
              reinterpret_cast<const void *>(from), bytes);
  return 0;
}

int cuMemsetD8Async(unsigned long long to, unsigned char value, size_t count,
                    void *) {
  std::memset(reinterpret_cast<void *>(to), value, count);
  return 0;
}
int cuMemsetD16Async(unsigned long long to, unsigned short value, size_t count,
                     void *) {
  std::fill_n(reinterpret_cast<unsigned short *>(to), count, value);
  return 0;
}
int cuMemsetD32Async(unsigned long long to, unsigned value, size_t count,
                     void *) {
  std::fill_n(reinterpret_cast<unsigned *>(to), count, value);
  return 0;
}

int cuEventCreate(void **event, unsigned) {
  *event = &fake;
  return 0;
}
int cuEventRecord(void *, void *) { return 0; }
int cuEventQuery(void *) { return 0; }
int cuEventSynchronize(void *) { return 0; }
int cuEventDestroy_v2(void *) { return 0; }
int cuStreamCreate(void **stream, unsigned) {
  *stream = &fake;
  return 0;
}
int cuStreamDestroy_v2(void *) { return 0; }
int cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
  *memory = std::malloc(bytes);
  return 0;
}
int cuMemFreeHost(void *memory) {
  std::free(memory);
  return 0;
}
int cuStreamWaitEvent(void *, void *, unsigned) { return 0; }
int cuStreamSynchronize(void *) {
  ++fake.synchronizations;
  return fake.synchronizeCode;
}
int cuStreamGetCaptureInfo_v2(void *, int *status, uint64_t *, void **,
                              const void **, size_t *) {
  *status = 0;
  return 0;
}
int cuThreadExchangeStreamCaptureMode(int *mode) {
  *mode = 0;
  return 0;
}
int cuModuleLoadDataEx(void **module, const void *image, unsigned count,
                       int *options, void **values) {
  const char *text = static_cast<const char *>(image);
  if (fake.cubinCode && !std::strstr(text, ".ptx"))
    return fake.cubinCode;
  if (fake.moduleCode) {
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == 5)
        std::strcpy(static_cast<char *>(values[i]), "ptxas fatal: nonsense");
    return fake.moduleCode;
  }
  std::snprintf(fake.image, sizeof(fake.image), "%s", text);
  *module = &fake;
  return 0;
}
int cuModuleUnload(void *) { return 0; }
int cuModuleGetFunction(void **function, void *, const char *name) {
  std::snprintf(fake.function, sizeof(fake.function), "%s", name);
  *function = &fake;
  return 0;
}
int cuFuncSetAttribute(void *, int attribute, int value) {
  if (attribute == 8)
    fake.dynamicShared = value;
  return 0;
}
int cuPointerGetAttribute(void *data, int attribute,
                          unsigned long long address) {
  if (attribute == 9) {
    int device = 0;
    std::memcpy(data, &device, sizeof(device));
    return 0;
  }
  ++fake.pointerQueries;
  if (address >= fake.hostBegin && address < fake.hostEnd)
    return 1;
  std::memcpy(data, &address, sizeof(address));
  return 0;
}
int cuMemAlloc_v2(unsigned long long *address, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  if (bytes > fake.memory - fake.memoryUsed)
    return 2;
  static unsigned long long next = 0x700000000000;
  *address = next;
  next += (bytes + 4095) / 4096 * 4096;
  blocks[*address] = bytes;
  fake.memoryUsed += bytes;
  ++fake.allocations;
  return 0;
}
int cuMemFree_v2(unsigned long long address) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = blocks.find(address);
  if (found == blocks.end())
    return 1;
  fake.memoryUsed -= found->second;
  blocks.erase(found);
  return 0;
}
int cuLaunchKernel(void *, unsigned x, unsigned y, unsigned z, unsigned threads,
                   unsigned, unsigned, unsigned shared, void *stream,
                   void **parameters, void **) {
  if (fake.launchCode)
    return fake.launchCode;
  ++fake.launches;
  std::lock_guard<std::mutex> lock(mutex);
  fake.grid[0] = x, fake.grid[1] = y, fake.grid[2] = z;
  fake.threads = threads;
  fake.shared = shared;
  fake.stream = stream;
  for (int i = 0; i < 8; ++i) {
    fake.arguments[i] = 0;
    if (fake.argumentBytes[i])
      std::memcpy(&fake.arguments[i], parameters[i], fake.argumentBytes[i]);
  }
  return 0;
}

int cuFuncGetAttribute(int *value, int, void *) {
  *value = 32;
  return 0;
}

} // extern "C"
