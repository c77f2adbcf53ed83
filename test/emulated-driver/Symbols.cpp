//===- Symbols.cpp - functions by name -----------------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "llvm/ADT/StringRef.h"

using namespace drawloom::driver;

// Only their addresses are needed.
extern "C" {
int cuCtxCreate_v2();
int cuCtxDestroy_v2();
int cuCtxGetCurrent();
int cuCtxGetDevice();
int cuCtxGetLimit();
int cuCtxGetStreamPriorityRange();
int cuCtxPopCurrent_v2();
int cuCtxPushCurrent_v2();
int cuCtxSetCacheConfig();
int cuCtxSetCurrent();
int cuCtxSetLimit();
int cuCtxSynchronize();
int cuDeviceComputeCapability();
int cuDeviceGet();
int cuDeviceGetAttribute();
int cuDeviceGetCount();
int cuDeviceGetName();
int cuDeviceGetUuid();
int cuDeviceGetUuid_v2();
int cuDevicePrimaryCtxGetState();
int cuDevicePrimaryCtxRelease_v2();
int cuDevicePrimaryCtxReset_v2();
int cuDevicePrimaryCtxRetain();
int cuDevicePrimaryCtxSetFlags_v2();
int cuDeviceTotalMem_v2();
int cuDriverGetVersion();
int cuEventCreate();
int cuEventDestroy_v2();
int cuEventElapsedTime();
int cuEventElapsedTime_v2();
int cuEventQuery();
int cuEventRecord();
int cuEventRecordWithFlags();
int cuEventSynchronize();
int cuFuncGetAttribute();
int cuFuncGetModule();
int cuFuncGetName();
int cuFuncSetAttribute();
int cuFuncSetCacheConfig();
int cuGetErrorName();
int cuGetErrorString();
int cuGraphDestroy();
int cuGraphExecDestroy();
int cuGraphGetNodes();
int cuGraphInstantiateWithFlags();
int cuGraphInstantiate_v2();
int cuGraphLaunch();
int cuInit();
int cuLaunchCooperativeKernel();
int cuLaunchHostFunc();
int cuLaunchKernel();
int cuLaunchKernelEx();
int cuMemAllocAsync();
int cuMemAllocHost_v2();
int cuMemAlloc_v2();
int cuMemFreeAsync();
int cuMemFreeHost();
int cuMemFree_v2();
int cuMemGetAddressRange_v2();
int cuMemGetInfo_v2();
int cuMemHostAlloc();
int cuMemcpy();
int cuMemcpyAsync();
int cuMemcpyDtoDAsync_v2();
int cuMemcpyDtoD_v2();
int cuMemcpyDtoHAsync_v2();
int cuMemcpyDtoH_v2();
int cuMemcpyHtoDAsync_v2();
int cuMemcpyHtoD_v2();
int cuMemsetD16Async();
int cuMemsetD16_v2();
int cuMemsetD32Async();
int cuMemsetD32_v2();
int cuMemsetD8Async();
int cuMemsetD8_v2();
int cuModuleGetFunction();
int cuModuleGetFunctionCount();
int cuModuleGetGlobal_v2();
int cuModuleGetLoadingMode();
int cuModuleLoad();
int cuModuleLoadData();
int cuModuleLoadDataEx();
int cuModuleUnload();
int cuOccupancyMaxActiveBlocksPerMultiprocessor();
int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags();
int cuOccupancyMaxActiveClusters();
int cuPointerGetAttribute();
int cuStreamBeginCapture_v2();
int cuStreamCreate();
int cuStreamCreateWithPriority();
int cuStreamDestroy_v2();
int cuStreamEndCapture();
int cuStreamGetCaptureInfo();
int cuStreamGetCaptureInfo_v2();
int cuStreamGetCtx();
int cuStreamGetFlags();
int cuStreamGetPriority();
int cuStreamIsCapturing();
int cuStreamQuery();
int cuStreamSynchronize();
int cuStreamWaitEvent();
int cuTensorMapEncodeTiled();
int cuThreadExchangeStreamCaptureMode();
int cuGetProcAddress(const char *, void **, int, uint64_t);
int cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);
}

namespace {
struct Entry {
  /// As it is exported. Programs ask without the version.
  llvm::StringRef name;
  void *address;
};
} // namespace

static const Entry entries[] = {
#define DRAWLOOM_ENTRY(name) {#name, reinterpret_cast<void *>(name)}
    DRAWLOOM_ENTRY(cuCtxCreate_v2),
    DRAWLOOM_ENTRY(cuCtxDestroy_v2),
    DRAWLOOM_ENTRY(cuCtxGetCurrent),
    DRAWLOOM_ENTRY(cuCtxGetDevice),
    DRAWLOOM_ENTRY(cuCtxGetLimit),
    DRAWLOOM_ENTRY(cuCtxGetStreamPriorityRange),
    DRAWLOOM_ENTRY(cuCtxPopCurrent_v2),
    DRAWLOOM_ENTRY(cuCtxPushCurrent_v2),
    DRAWLOOM_ENTRY(cuCtxSetCacheConfig),
    DRAWLOOM_ENTRY(cuCtxSetCurrent),
    DRAWLOOM_ENTRY(cuCtxSetLimit),
    DRAWLOOM_ENTRY(cuCtxSynchronize),
    DRAWLOOM_ENTRY(cuDeviceComputeCapability),
    DRAWLOOM_ENTRY(cuDeviceGet),
    DRAWLOOM_ENTRY(cuDeviceGetAttribute),
    DRAWLOOM_ENTRY(cuDeviceGetCount),
    DRAWLOOM_ENTRY(cuDeviceGetName),
    DRAWLOOM_ENTRY(cuDeviceGetUuid),
    DRAWLOOM_ENTRY(cuDeviceGetUuid_v2),
    DRAWLOOM_ENTRY(cuDevicePrimaryCtxGetState),
    DRAWLOOM_ENTRY(cuDevicePrimaryCtxRelease_v2),
    DRAWLOOM_ENTRY(cuDevicePrimaryCtxReset_v2),
    DRAWLOOM_ENTRY(cuDevicePrimaryCtxRetain),
    DRAWLOOM_ENTRY(cuDevicePrimaryCtxSetFlags_v2),
    DRAWLOOM_ENTRY(cuDeviceTotalMem_v2),
    DRAWLOOM_ENTRY(cuDriverGetVersion),
    DRAWLOOM_ENTRY(cuEventCreate),
    DRAWLOOM_ENTRY(cuEventDestroy_v2),
    DRAWLOOM_ENTRY(cuEventElapsedTime),
    DRAWLOOM_ENTRY(cuEventElapsedTime_v2),
    DRAWLOOM_ENTRY(cuEventQuery),
    DRAWLOOM_ENTRY(cuEventRecord),
    DRAWLOOM_ENTRY(cuEventRecordWithFlags),
    DRAWLOOM_ENTRY(cuEventSynchronize),
    DRAWLOOM_ENTRY(cuFuncGetAttribute),
    DRAWLOOM_ENTRY(cuFuncGetModule),
    DRAWLOOM_ENTRY(cuFuncGetName),
    DRAWLOOM_ENTRY(cuFuncSetAttribute),
    DRAWLOOM_ENTRY(cuFuncSetCacheConfig),
    DRAWLOOM_ENTRY(cuGetErrorName),
    DRAWLOOM_ENTRY(cuGetErrorString),
    DRAWLOOM_ENTRY(cuGraphDestroy),
    DRAWLOOM_ENTRY(cuGraphExecDestroy),
    DRAWLOOM_ENTRY(cuGraphGetNodes),
    DRAWLOOM_ENTRY(cuGraphInstantiateWithFlags),
    DRAWLOOM_ENTRY(cuGraphInstantiate_v2),
    DRAWLOOM_ENTRY(cuGraphLaunch),
    DRAWLOOM_ENTRY(cuInit),
    DRAWLOOM_ENTRY(cuLaunchCooperativeKernel),
    DRAWLOOM_ENTRY(cuLaunchHostFunc),
    DRAWLOOM_ENTRY(cuLaunchKernel),
    DRAWLOOM_ENTRY(cuLaunchKernelEx),
    DRAWLOOM_ENTRY(cuMemAllocAsync),
    DRAWLOOM_ENTRY(cuMemAllocHost_v2),
    DRAWLOOM_ENTRY(cuMemAlloc_v2),
    DRAWLOOM_ENTRY(cuMemFreeAsync),
    DRAWLOOM_ENTRY(cuMemFreeHost),
    DRAWLOOM_ENTRY(cuMemFree_v2),
    DRAWLOOM_ENTRY(cuMemGetAddressRange_v2),
    DRAWLOOM_ENTRY(cuMemGetInfo_v2),
    DRAWLOOM_ENTRY(cuMemHostAlloc),
    DRAWLOOM_ENTRY(cuMemcpy),
    DRAWLOOM_ENTRY(cuMemcpyAsync),
    DRAWLOOM_ENTRY(cuMemcpyDtoDAsync_v2),
    DRAWLOOM_ENTRY(cuMemcpyDtoD_v2),
    DRAWLOOM_ENTRY(cuMemcpyDtoHAsync_v2),
    DRAWLOOM_ENTRY(cuMemcpyDtoH_v2),
    DRAWLOOM_ENTRY(cuMemcpyHtoDAsync_v2),
    DRAWLOOM_ENTRY(cuMemcpyHtoD_v2),
    DRAWLOOM_ENTRY(cuMemsetD16Async),
    DRAWLOOM_ENTRY(cuMemsetD16_v2),
    DRAWLOOM_ENTRY(cuMemsetD32Async),
    DRAWLOOM_ENTRY(cuMemsetD32_v2),
    DRAWLOOM_ENTRY(cuMemsetD8Async),
    DRAWLOOM_ENTRY(cuMemsetD8_v2),
    DRAWLOOM_ENTRY(cuModuleGetFunction),
    DRAWLOOM_ENTRY(cuModuleGetFunctionCount),
    DRAWLOOM_ENTRY(cuModuleGetGlobal_v2),
    DRAWLOOM_ENTRY(cuModuleGetLoadingMode),
    DRAWLOOM_ENTRY(cuModuleLoad),
    DRAWLOOM_ENTRY(cuModuleLoadData),
    DRAWLOOM_ENTRY(cuModuleLoadDataEx),
    DRAWLOOM_ENTRY(cuModuleUnload),
    DRAWLOOM_ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessor),
    DRAWLOOM_ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags),
    DRAWLOOM_ENTRY(cuOccupancyMaxActiveClusters),
    DRAWLOOM_ENTRY(cuPointerGetAttribute),
    DRAWLOOM_ENTRY(cuStreamBeginCapture_v2),
    DRAWLOOM_ENTRY(cuStreamCreate),
    DRAWLOOM_ENTRY(cuStreamCreateWithPriority),
    DRAWLOOM_ENTRY(cuStreamDestroy_v2),
    DRAWLOOM_ENTRY(cuStreamEndCapture),
    DRAWLOOM_ENTRY(cuStreamGetCaptureInfo),
    DRAWLOOM_ENTRY(cuStreamGetCaptureInfo_v2),
    DRAWLOOM_ENTRY(cuStreamGetCtx),
    DRAWLOOM_ENTRY(cuStreamGetFlags),
    DRAWLOOM_ENTRY(cuStreamGetPriority),
    DRAWLOOM_ENTRY(cuStreamIsCapturing),
    DRAWLOOM_ENTRY(cuStreamQuery),
    DRAWLOOM_ENTRY(cuStreamSynchronize),
    DRAWLOOM_ENTRY(cuStreamWaitEvent),
    DRAWLOOM_ENTRY(cuTensorMapEncodeTiled),
    DRAWLOOM_ENTRY(cuThreadExchangeStreamCaptureMode),
    DRAWLOOM_ENTRY(cuGetProcAddress_v2),
#undef DRAWLOOM_ENTRY
};

static void *find(llvm::StringRef name) {
  for (const Entry &entry : entries) {
    llvm::StringRef plain = entry.name;
    if (plain == name || (plain.consume_back("_v2") && plain == name))
      return entry.address;
  }
  return nullptr;
}

/// What drivers before CUDA 12 do not have.
static bool isNew(llvm::StringRef name) {
  return name == "cuLaunchKernelEx" || name == "cuOccupancyMaxActiveClusters" ||
         name == "cuTensorMapEncodeTiled";
}

DRAWLOOM_CUDA_API cuGetProcAddress_v2(const char *name, void **address,
                                      int version, uint64_t flags,
                                      int *status) {
  if (!name || !address)
    return InvalidValue;
  *address = find(name);
  if (isNew(name) && variableNames("DRAWLOOM_EMULATED_FAULT", "old-driver"))
    *address = nullptr;
  // 0: found, 1: no such symbol.
  if (status)
    *status = *address ? 0 : 1;
  return *address ? Success : NotFound;
}

DRAWLOOM_CUDA_API cuGetProcAddress(const char *name, void **address,
                                   int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, address, version, flags, nullptr);
}
