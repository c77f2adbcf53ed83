//===- Devices.cpp - devices, contexts, error names ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include <cstring>

using namespace drawloom;
using namespace drawloom::driver;

static const char *const fault = "DRAWLOOM_EMULATED_FAULT";

DRAWLOOM_CUDA_API cuInit(unsigned flags) {
  Call call;
  if (flags != 0)
    return InvalidValue;
  if (variableNames(fault, "no-device"))
    return NoDevice;
  call.driver.initialized = true;
  return Success;
}

DRAWLOOM_CUDA_API cuDriverGetVersion(int *version) {
  if (!version)
    return InvalidValue;
  *version = variableNames(fault, "old-driver") ? 11000 : 13000;
  return Success;
}

static int checkDevice(int device) {
  if (!Driver::get().initialized)
    return NotInitialized;
  return device >= 0 &&
                 static_cast<size_t>(device) < Driver::get().devices.size()
             ? Success
             : InvalidDevice;
}

DRAWLOOM_CUDA_API cuDeviceGetCount(int *count) {
  Call call;
  if (!call.driver.initialized)
    return NotInitialized;
  *count = static_cast<int>(call.driver.devices.size());
  return Success;
}

DRAWLOOM_CUDA_API cuDeviceGet(int *device, int ordinal) {
  Call call;
  if (int error = checkDevice(ordinal))
    return error;
  *device = ordinal;
  return Success;
}

DRAWLOOM_CUDA_API cuDeviceGetName(char *name, int length, int device) {
  Call call;
  if (int error = checkDevice(device))
    return error;
  if (!name || length <= 0)
    return InvalidValue;
  std::snprintf(name, static_cast<size_t>(length), "Drawloom emulated GPU");
  return Success;
}

DRAWLOOM_CUDA_API cuDeviceGetUuid_v2(char *uuid, int device) {
  Call call;
  if (int error = checkDevice(device))
    return error;
  std::memcpy(uuid, "drawloom-emulate", 16);
  uuid[15] = static_cast<char>(uuid[15] + device);
  return Success;
}

DRAWLOOM_CUDA_API cuDeviceGetUuid(char *uuid, int device) {
  return cuDeviceGetUuid_v2(uuid, device);
}

DRAWLOOM_CUDA_API cuDeviceTotalMem_v2(size_t *bytes, int device) {
  Call call;
  if (int error = checkDevice(device))
    return error;
  *bytes = size_t(8) << 30;
  return Success;
}

/// Ten times the major version plus the minor one.
static int capability() { return number("DRAWLOOM_EMULATED_CAPABILITY", 90); }

DRAWLOOM_CUDA_API cuDeviceComputeCapability(int *major, int *minor,
                                            int device) {
  *major = capability() / 10;
  *minor = capability() % 10;
  return checkDevice(device);
}

DRAWLOOM_CUDA_API cuDeviceGetAttribute(int *value, int attribute, int device) {
  Call call;
  if (int error = checkDevice(device))
    return error;
  if (!value)
    return InvalidValue;
  static const std::map<int, int> known = {
      {1, 1024},        // MAX_THREADS_PER_BLOCK
      {2, 1024},        // MAX_BLOCK_DIM_X
      {3, 1024},        // MAX_BLOCK_DIM_Y
      {4, 64},          // MAX_BLOCK_DIM_Z
      {5, 0x7fffffff},  // MAX_GRID_DIM_X
      {6, 65535},       // MAX_GRID_DIM_Y
      {7, 65535},       // MAX_GRID_DIM_Z
      {8, 48 << 10},    // MAX_SHARED_MEMORY_PER_BLOCK
      {9, 64 << 10},    // TOTAL_CONSTANT_MEMORY
      {10, 32},         // WARP_SIZE
      {11, 0x7fffffff}, // MAX_PITCH
      {12, 65536},      // MAX_REGISTERS_PER_BLOCK
      {13, 1755000},    // CLOCK_RATE, in kHz
      {14, 512},        // TEXTURE_ALIGNMENT
      {15, 1},          // GPU_OVERLAP
      {19, 1},          // CAN_MAP_HOST_MEMORY
      {31, 1},          // CONCURRENT_KERNELS
      {36, 2619000},    // MEMORY_CLOCK_RATE, in kHz
      {37, 5120},       // GLOBAL_MEMORY_BUS_WIDTH
      {38, 50 << 20},   // L2_CACHE_SIZE
      {39, 2048},       // MAX_THREADS_PER_MULTIPROCESSOR
      {40, 1},          // ASYNC_ENGINE_COUNT
      {41, 1},          // UNIFIED_ADDRESSING
      {78, 1},          // STREAM_PRIORITIES_SUPPORTED
      {81, 228 << 10},  // MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
      {82, 65536},      // MAX_REGISTERS_PER_MULTIPROCESSOR
      {95, 1},          // COOPERATIVE_LAUNCH
      {97, static_cast<int>(emulator::mostSharedBytes)},
      {106, 32},   // MAX_BLOCKS_PER_MULTIPROCESSOR
      {111, 1024}, // RESERVED_SHARED_MEMORY_PER_BLOCK
      {115, 1},    // MEMORY_POOLS_SUPPORTED
  };
  switch (attribute) {
  case 16: // MULTIPROCESSOR_COUNT
    *value = number("DRAWLOOM_EMULATED_MULTIPROCESSORS", 8);
    return Success;
  case 75: // COMPUTE_CAPABILITY_MAJOR
    *value = capability() / 10;
    return Success;
  case 76: // COMPUTE_CAPABILITY_MINOR
    *value = capability() % 10;
    return Success;
  default:
    break;
  }
  auto found = known.find(attribute);
  *value = found == known.end() ? 0 : found->second;
  return Success;
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

static Context &primaryOf(Driver &driver, int device) {
  return driver.devices[static_cast<size_t>(device)].primary;
}

DRAWLOOM_CUDA_API cuDevicePrimaryCtxRetain(Context **context, int device) {
  Call call;
  if (int error = checkDevice(device))
    return error;
  Context &primary = primaryOf(call.driver, device);
  ++primary.uses;
  *context = &primary;
  return Success;
}

DRAWLOOM_CUDA_API cuDevicePrimaryCtxRelease_v2(int device) {
  Call call;
  if (int error = checkDevice(device))
    return error;
  Context &primary = primaryOf(call.driver, device);
  if (primary.uses == 0)
    return InvalidContext;
  --primary.uses;
  return Success;
}

DRAWLOOM_CUDA_API cuDevicePrimaryCtxReset_v2(int device) {
  Call call;
  if (int error = checkDevice(device))
    return error;
  call.driver.runAll();
  call.driver.failure = Success;
  // Faults count from here.
  call.driver.launches = call.driver.allocationsMade = call.driver.copiesMade =
      0;
  return Success;
}

DRAWLOOM_CUDA_API cuDevicePrimaryCtxGetState(int device, unsigned *flags,
                                             int *active) {
  Call call;
  if (int error = checkDevice(device))
    return error;
  *flags = 0;
  *active = primaryOf(call.driver, device).uses > 0;
  return Success;
}

DRAWLOOM_CUDA_API cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
  Call call;
  return checkDevice(device);
}

DRAWLOOM_CUDA_API cuCtxCreate_v2(Context **context, unsigned flags,
                                 int device) {
  Call call;
  if (int error = checkDevice(device))
    return error;
  *context = new Context;
  (*context)->device = device;
  call.driver.contexts.insert(*context);
  contextStack().push_back(*context);
  return Success;
}

static bool isContext(Driver &driver, Context *context) {
  return driver.contexts.count(context) ||
         llvm::any_of(driver.devices, [&](const DeviceState &device) {
           return context == &device.primary;
         });
}

DRAWLOOM_CUDA_API cuCtxDestroy_v2(Context *context) {
  Call call;
  if (!call.driver.contexts.erase(context))
    return InvalidContext;
  call.driver.runAll();
  call.driver.failure = Success;
  llvm::erase(contextStack(), context);
  delete context;
  return Success;
}

DRAWLOOM_CUDA_API cuCtxGetCurrent(Context **context) {
  Call call;
  *context = contextStack().empty() ? nullptr : contextStack().back();
  return Success;
}

DRAWLOOM_CUDA_API cuCtxSetCurrent(Context *context) {
  Call call;
  if (context && !isContext(call.driver, context))
    return InvalidContext;
  if (!contextStack().empty())
    contextStack().pop_back();
  if (context)
    contextStack().push_back(context);
  return Success;
}

DRAWLOOM_CUDA_API cuCtxPushCurrent_v2(Context *context) {
  Call call;
  if (!context || !isContext(call.driver, context))
    return InvalidContext;
  contextStack().push_back(context);
  return Success;
}

DRAWLOOM_CUDA_API cuCtxPopCurrent_v2(Context **context) {
  Call call;
  if (contextStack().empty())
    return InvalidContext;
  if (context)
    *context = contextStack().back();
  contextStack().pop_back();
  return Success;
}

DRAWLOOM_CUDA_API cuCtxGetDevice(int *device) {
  Call call;
  if (contextStack().empty())
    return InvalidContext;
  *device = contextStack().back()->device;
  return Success;
}

DRAWLOOM_CUDA_API cuCtxSynchronize() {
  Call call;
  return call.driver.synchronize();
}

DRAWLOOM_CUDA_API cuCtxSetLimit(int limit, size_t value) {
  Call call;
  call.driver.current().primary.limits[limit] = value;
  return Success;
}

DRAWLOOM_CUDA_API cuCtxGetLimit(size_t *value, int limit) {
  Call call;
  auto found = call.driver.current().primary.limits.find(limit);
  *value = found == call.driver.current().primary.limits.end() ? size_t(1) << 20
                                                               : found->second;
  return Success;
}

DRAWLOOM_CUDA_API cuCtxSetCacheConfig(int) { return Success; }

DRAWLOOM_CUDA_API cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  if (least)
    *least = 0;
  if (greatest)
    *greatest = -5;
  return Success;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

namespace {
struct ErrorText {
  int code;
  const char *name, *text;
};
} // namespace

static const ErrorText *findError(int code) {
  static const ErrorText known[] = {
      {Success, "CUDA_SUCCESS", "no error"},
      {InvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
      {OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
      {NotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
      {NoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
      {InvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
      {InvalidImage, "CUDA_ERROR_INVALID_IMAGE",
       "device kernel image is invalid"},
      {InvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
      {NoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU",
       "no kernel image is available for execution on the device"},
      {FileNotFound, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
      {InvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
      {NotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
      {NotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
      {LaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
      {NotSupported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
      {CaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
       "operation not permitted when stream is capturing"},
      {CaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
       "operation failed due to a previous error during capture"},
      {CaptureUnmatched, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
       "capture was not begun on this stream"},
  };
  for (const ErrorText &error : known)
    if (error.code == code)
      return &error;
  return nullptr;
}

DRAWLOOM_CUDA_API cuGetErrorName(int code, const char **text) {
  const ErrorText *error = findError(code);
  *text = error ? error->name : nullptr;
  return error ? Success : InvalidValue;
}

DRAWLOOM_CUDA_API cuGetErrorString(int code, const char **text) {
  const ErrorText *error = findError(code);
  *text = error ? error->text : nullptr;
  return error ? Success : InvalidValue;
}
