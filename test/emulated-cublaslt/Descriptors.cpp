//===- Descriptors.cpp - handles, layouts, descriptors, preferences -------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Library.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace drawloom::cublaslt;

extern "C" int cuCtxGetCurrent(void **context);

namespace drawloom::cublaslt {

Library &Library::get() {
  // Never destroyed: programs call while they exit.
  static Library *library = new Library;
  return *library;
}

int refuse(Status status, const std::string &function, const std::string &why) {
  std::string line = "emulated " + function + ": " + why + "\n";
  const char *path = std::getenv("DRAWLOOM_EMULATOR_LOG");
  FILE *file = path && *path ? std::fopen(path, "a") : nullptr;
  std::fputs(line.c_str(), file ? file : stderr);
  if (file)
    std::fclose(file);
  return status;
}

size_t bytesOf(int type) {
  return type == F32 ? 4 : type == F16 || type == BF16 ? 2 : 0;
}

int64_t Layout::bytes() const {
  if (rows == 0 || columns == 0 || batch == 0)
    return 0;
  auto last = (batch - 1) * batchStride +
              static_cast<int64_t>(columns - 1) * leadingDimension +
              static_cast<int64_t>(rows);
  return last * static_cast<int64_t>(bytesOf(type));
}

/// Puts a value where it belongs, if it has the field's size.
template <typename T>
static bool put(T &field, const void *value, size_t bytes) {
  if (bytes != sizeof(T))
    return false;
  std::memcpy(&field, value, bytes);
  return true;
}

} // namespace drawloom::cublaslt

extern "C" __attribute__((visibility("default"))) size_t cublasLtGetVersion() {
  return 130000;
}

extern "C" __attribute__((visibility("default"))) const char *
cublasLtGetStatusName(int status) {
  switch (status) {
  case Success:
    return "CUBLAS_STATUS_SUCCESS";
  case NotInitialized:
    return "CUBLAS_STATUS_NOT_INITIALIZED";
  case InvalidValue:
    return "CUBLAS_STATUS_INVALID_VALUE";
  case ExecutionFailed:
    return "CUBLAS_STATUS_EXECUTION_FAILED";
  case NotSupported:
    return "CUBLAS_STATUS_NOT_SUPPORTED";
  default:
    return "UNKNOWN";
  }
}

extern "C" __attribute__((visibility("default"))) const char *
cublasLtGetStatusString(int status) {
  return status == Success ? "success" : "the emulated library's log says why";
}

DRAWLOOM_CUBLASLT_API cublasLtCreate(void **handle) {
  void *context = nullptr;
  if (!handle)
    return refuse(InvalidValue, "cublasLtCreate", "the handle is null");
  if (cuCtxGetCurrent(&context) != 0 || !context)
    return refuse(NotInitialized, "cublasLtCreate", "no context is current");
  Library &library = Library::get();
  std::lock_guard<std::mutex> lock(library.mutex);
  *handle = new char;
  library.handles.insert(*handle);
  return Success;
}

DRAWLOOM_CUBLASLT_API cublasLtDestroy(void *handle) {
  Library &library = Library::get();
  std::lock_guard<std::mutex> lock(library.mutex);
  if (!library.handles.erase(handle))
    return refuse(InvalidValue, "cublasLtDestroy", "no such handle");
  delete static_cast<char *>(handle);
  return Success;
}

template <typename T>
static int destroy(std::set<T *> Library::*objects, void *object,
                   const char *function) {
  Library &library = Library::get();
  std::lock_guard<std::mutex> lock(library.mutex);
  if (!(library.*objects).erase(static_cast<T *>(object)))
    return refuse(InvalidValue, function, "no such object");
  delete static_cast<T *>(object);
  return Success;
}

/// The object, or null where it does not live.
template <typename T>
static T *find(std::set<T *> Library::*objects, void *object) {
  Library &library = Library::get();
  std::lock_guard<std::mutex> lock(library.mutex);
  auto found = (library.*objects).find(static_cast<T *>(object));
  return found == (library.*objects).end() ? nullptr : *found;
}

DRAWLOOM_CUBLASLT_API cublasLtMatmulDescCreate(void **made, int computeType,
                                               int scaleType) {
  // Sums and scales in f32 are all that is emulated.
  if (!made || computeType != 68 || scaleType != F32)
    return refuse(InvalidValue, "cublasLtMatmulDescCreate",
                  "null, or types other than CUBLAS_COMPUTE_32F, CUDA_R_32F");
  Library &library = Library::get();
  std::lock_guard<std::mutex> lock(library.mutex);
  auto *descriptor = new Descriptor;
  descriptor->computeType = computeType;
  descriptor->scaleType = scaleType;
  library.descriptors.insert(descriptor);
  *made = descriptor;
  return Success;
}

DRAWLOOM_CUBLASLT_API cublasLtMatmulDescDestroy(void *descriptor) {
  return destroy(&Library::descriptors, descriptor,
                 "cublasLtMatmulDescDestroy");
}

DRAWLOOM_CUBLASLT_API cublasLtMatmulDescSetAttribute(void *handle,
                                                     int attribute,
                                                     const void *value,
                                                     size_t bytes) {
  const char *function = "cublasLtMatmulDescSetAttribute";
  Descriptor *descriptor = find(&Library::descriptors, handle);
  if (!descriptor || !value)
    return refuse(InvalidValue, function, "no such descriptor, or null");
  bool known = true, fits = false;
  switch (attribute) {
  case 2:
    fits = put(descriptor->pointerMode, value, bytes);
    break;
  case 3:
    fits = put(descriptor->transposeA, value, bytes);
    break;
  case 4:
    fits = put(descriptor->transposeB, value, bytes);
    break;
  case 5:
    fits = put(descriptor->transposeC, value, bytes);
    break;
  case 7:
    fits = put(descriptor->epilogue, value, bytes);
    break;
  case 8:
    fits = put(descriptor->bias, value, bytes);
    break;
  case 10:
    fits = put(descriptor->biasStride, value, bytes);
    break;
  case 26:
    fits = put(descriptor->biasType, value, bytes);
    break;
  default:
    known = false;
  }
  if (!known || !fits)
    return refuse(known ? InvalidValue : NotSupported, function,
                  "attribute " + std::to_string(attribute) + " of " +
                      std::to_string(bytes) + " bytes");
  return Success;
}

DRAWLOOM_CUBLASLT_API cublasLtMatrixLayoutCreate(void **made, int type,
                                                 uint64_t rows,
                                                 uint64_t columns,
                                                 int64_t leadingDimension) {
  const char *function = "cublasLtMatrixLayoutCreate";
  if (!made || bytesOf(type) == 0)
    return refuse(InvalidValue, function, "null, or an unknown type");
  if (rows > INT32_MAX || columns > INT32_MAX)
    return refuse(InvalidValue, function, "an extent above 2^31 - 1");
  if (leadingDimension < static_cast<int64_t>(rows))
    return refuse(InvalidValue, function,
                  "leading dimension " + std::to_string(leadingDimension) +
                      " below " + std::to_string(rows) + " rows");
  Library &library = Library::get();
  std::lock_guard<std::mutex> lock(library.mutex);
  auto *layout = new Layout;
  layout->type = type;
  layout->rows = rows;
  layout->columns = columns;
  layout->leadingDimension = leadingDimension;
  library.layouts.insert(layout);
  *made = layout;
  return Success;
}

DRAWLOOM_CUBLASLT_API cublasLtMatrixLayoutDestroy(void *layout) {
  return destroy(&Library::layouts, layout, "cublasLtMatrixLayoutDestroy");
}

DRAWLOOM_CUBLASLT_API cublasLtMatrixLayoutSetAttribute(void *handle,
                                                       int attribute,
                                                       const void *value,
                                                       size_t bytes) {
  const char *function = "cublasLtMatrixLayoutSetAttribute";
  Layout *layout = find(&Library::layouts, handle);
  if (!layout || !value)
    return refuse(InvalidValue, function, "no such layout, or null");
  bool known = true, fits = false;
  switch (attribute) {
  case 1:
    fits = put(layout->order, value, bytes);
    break;
  case 5:
    fits = put(layout->batch, value, bytes) && layout->batch > 0;
    break;
  case 6:
    fits = put(layout->batchStride, value, bytes);
    break;
  default:
    known = false;
  }
  if (!known || !fits)
    return refuse(known ? InvalidValue : NotSupported, function,
                  "attribute " + std::to_string(attribute) + " of " +
                      std::to_string(bytes) + " bytes");
  return Success;
}

DRAWLOOM_CUBLASLT_API cublasLtMatmulPreferenceCreate(void **made) {
  if (!made)
    return refuse(InvalidValue, "cublasLtMatmulPreferenceCreate", "null");
  Library &library = Library::get();
  std::lock_guard<std::mutex> lock(library.mutex);
  auto *preference = new Preference;
  library.preferences.insert(preference);
  *made = preference;
  return Success;
}

DRAWLOOM_CUBLASLT_API cublasLtMatmulPreferenceDestroy(void *preference) {
  return destroy(&Library::preferences, preference,
                 "cublasLtMatmulPreferenceDestroy");
}

DRAWLOOM_CUBLASLT_API cublasLtMatmulPreferenceSetAttribute(void *handle,
                                                           int attribute,
                                                           const void *value,
                                                           size_t bytes) {
  const char *function = "cublasLtMatmulPreferenceSetAttribute";
  Preference *preference = find(&Library::preferences, handle);
  if (!preference || !value)
    return refuse(InvalidValue, function, "no such preference, or null");
  auto alignment = [&](uint32_t &field) {
    return put(field, value, bytes) && field > 0 && (field & (field - 1)) == 0;
  };
  bool known = true, fits = false;
  switch (attribute) {
  case 1:
    fits = put(preference->workspaceBytes, value, bytes);
    break;
  case 3:
    fits = put(preference->reductionSchemes, value, bytes) &&
           preference->reductionSchemes <= 7;
    break;
  case 5:
    fits = alignment(preference->alignmentA);
    break;
  case 6:
    fits = alignment(preference->alignmentB);
    break;
  case 7:
    fits = alignment(preference->alignmentC);
    break;
  case 8:
    fits = alignment(preference->alignmentD);
    break;
  default:
    known = false;
  }
  if (!known || !fits)
    return refuse(known ? InvalidValue : NotSupported, function,
                  "attribute " + std::to_string(attribute) + " of " +
                      std::to_string(bytes) + " bytes");
  return Success;
}
