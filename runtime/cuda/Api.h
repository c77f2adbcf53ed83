//===- Api.h - the functions of CUDA's driver that are used ------*- C++
//-*-===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver's interface is declared here, so that CUDA's headers are not
// needed to build. Names, types and numbers are those of the driver's
// documented binary interface.
//
//===----------------------------------------------------------------------===//

#ifndef DRAWLOOM_RUNTIME_CUDA_API_H
#define DRAWLOOM_RUNTIME_CUDA_API_H

#include "drawloom/runtime/Cuda.h"

namespace drawloom::runtime::cuda {

using DevicePointer = unsigned long long;

enum Code : int {
  success = 0,
  invalidValue = 1,
  outOfMemory = 2,
  invalidImage = 200,
  noBinaryForGpu = 209,
  unsupportedVersion = 222,
  notReady = 600,
  launchOutOfResources = 701,
};

enum DeviceAttribute : int {
  maxGridX = 5,
  maxGridY = 6,
  maxGridZ = 7,
  multiprocessorCount = 16,
  capabilityMajor = 75,
  capabilityMinor = 76,
  pageableMemoryAccess = 88,
  maxSharedOptIn = 97,
};

constexpr int functionRegisters = 4, functionMaxDynamicShared = 8;
constexpr int pointerDeviceAddress = 3, pointerDeviceOrdinal = 9;
// Capture mode that permits all calls of a thread, and status of a stream that
// is being captured.
constexpr int captureRelaxed = 2, captureActive = 1;
constexpr unsigned eventDisableTiming = 2;
constexpr unsigned streamNonBlocking = 1, hostAllocatePortable = 1;
constexpr int jitErrorLog = 5, jitErrorLogBytes = 6;

// DRAWLOOM_DRIVER(member, symbol, parameters)
#define DRAWLOOM_DRIVER_FUNCTIONS(F)                                           \
  F(init, "cuInit", (unsigned))                                                \
  F(driverGetVersion, "cuDriverGetVersion", (int *))                           \
  F(getErrorName, "cuGetErrorName", (int, const char **))                      \
  F(getErrorString, "cuGetErrorString", (int, const char **))                  \
  F(deviceGetCount, "cuDeviceGetCount", (int *))                               \
  F(deviceGet, "cuDeviceGet", (int *, int))                                    \
  F(deviceGetName, "cuDeviceGetName", (char *, int, int))                      \
  F(deviceGetAttribute, "cuDeviceGetAttribute", (int *, int, int))             \
  F(primaryRetain, "cuDevicePrimaryCtxRetain", (void **, int))                 \
  F(primaryRelease, "cuDevicePrimaryCtxRelease_v2", (int))                     \
  F(contextGetCurrent, "cuCtxGetCurrent", (void **))                           \
  F(contextPush, "cuCtxPushCurrent_v2", (void *))                              \
  F(contextPop, "cuCtxPopCurrent_v2", (void **))                               \
  F(contextGetDevice, "cuCtxGetDevice", (int *))                               \
  F(contextSynchronize, "cuCtxSynchronize", ())                                \
  F(moduleLoad, "cuModuleLoadDataEx",                                          \
    (void **, const void *, unsigned, int *, void **))                         \
  F(moduleUnload, "cuModuleUnload", (void *))                                  \
  F(moduleGetFunction, "cuModuleGetFunction", (void **, void *, const char *)) \
  F(functionGetAttribute, "cuFuncGetAttribute", (int *, int, void *))          \
  F(functionSetAttribute, "cuFuncSetAttribute", (void *, int, int))            \
  F(pointerGetAttribute, "cuPointerGetAttribute",                              \
    (void *, int, DevicePointer))                                              \
  F(memoryAllocate, "cuMemAlloc_v2", (DevicePointer *, size_t))                \
  F(memoryFree, "cuMemFree_v2", (DevicePointer))                               \
  F(hostAllocate, "cuMemHostAlloc", (void **, size_t, unsigned))               \
  F(hostFree, "cuMemFreeHost", (void *))                                       \
  F(copyToDevice, "cuMemcpyHtoDAsync_v2",                                      \
    (DevicePointer, const void *, size_t, void *))                             \
  F(copyToHost, "cuMemcpyDtoHAsync_v2",                                        \
    (void *, DevicePointer, size_t, void *))                                   \
  F(copyOnDevice, "cuMemcpyDtoDAsync_v2",                                      \
    (DevicePointer, DevicePointer, size_t, void *))                            \
  F(fill8, "cuMemsetD8Async", (DevicePointer, uint8_t, size_t, void *))        \
  F(fill16, "cuMemsetD16Async", (DevicePointer, uint16_t, size_t, void *))     \
  F(fill32, "cuMemsetD32Async", (DevicePointer, uint32_t, size_t, void *))     \
  F(eventCreate, "cuEventCreate", (void **, unsigned))                         \
  F(eventRecord, "cuEventRecord", (void *, void *))                            \
  F(eventQuery, "cuEventQuery", (void *))                                      \
  F(eventSynchronize, "cuEventSynchronize", (void *))                          \
  F(eventDestroy, "cuEventDestroy_v2", (void *))                               \
  F(streamCreate, "cuStreamCreate", (void **, unsigned))                       \
  F(streamDestroy, "cuStreamDestroy_v2", (void *))                             \
  F(streamWaitEvent, "cuStreamWaitEvent", (void *, void *, unsigned))          \
  F(streamSynchronize, "cuStreamSynchronize", (void *))                        \
  F(streamCaptureInfo, "cuStreamGetCaptureInfo_v2",                            \
    (void *, int *, uint64_t *, void **, const void **, size_t *))             \
  F(exchangeCaptureMode, "cuThreadExchangeStreamCaptureMode", (int *))         \
  F(launchKernel, "cuLaunchKernel",                                            \
    (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,       \
     unsigned, void *, void **, void **))

struct Api {
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define DRAWLOOM_DRIVER(member, symbol, parameters) int(*member) parameters;
  DRAWLOOM_DRIVER_FUNCTIONS(DRAWLOOM_DRIVER)
#undef DRAWLOOM_DRIVER
};

/// Returns the id of the capture that the stream is in; 0 if it is in none.
inline uint64_t captureOf(const Api &api, void *stream) {
  int status = 0;
  uint64_t number = 0;
  int code = api.streamCaptureInfo(stream, &status, &number, nullptr, nullptr,
                                   nullptr);
  return code == success && status == captureActive ? number : 0;
}

/// Makes a context current for the lifetime of this object, unless it is
/// already.
class CurrentContext {
public:
  CurrentContext(const Api &api, void *context) : api(api) {
    void *current = nullptr;
    code = api.contextGetCurrent(&current);
    if (code == success && current != context) {
      code = api.contextPush(context);
      pushed = code == success;
    }
  }
  ~CurrentContext() {
    void *popped = nullptr;
    if (pushed)
      api.contextPop(&popped);
  }
  CurrentContext(const CurrentContext &) = delete;
  CurrentContext &operator=(const CurrentContext &) = delete;

  int code = success;

private:
  const Api &api;
  bool pushed = false;
};

} // namespace drawloom::runtime::cuda

#endif // DRAWLOOM_RUNTIME_CUDA_API_H
