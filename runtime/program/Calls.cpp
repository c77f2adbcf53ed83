//===- Calls.cpp - calls of the C interface, checked ----------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "drawloom/runtime/ShortArray.h"
#include "drawloom/runtime/ThreadPool.h"
#include "runtime/program/Handles.h"
#include <algorithm>
#include <memory>

using namespace drawloom;
using namespace drawloom::runtime;

const char *drawloomFunctionName(const DrawloomFunction *function) {
  return function->signature->name.c_str();
}
size_t drawloomArgumentCount(const DrawloomFunction *function) {
  return function->signature->arguments.size();
}
size_t drawloomResultCount(const DrawloomFunction *function) {
  return function->signature->results.size();
}

static DrawloomElement elementOf(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return DRAWLOOM_F64;
  case ElementType::F32:
    return DRAWLOOM_F32;
  case ElementType::BF16:
    return DRAWLOOM_BF16;
  case ElementType::F16:
    return DRAWLOOM_F16;
  case ElementType::I64:
    return DRAWLOOM_I64;
  case ElementType::I32:
    return DRAWLOOM_I32;
  case ElementType::I8:
    return DRAWLOOM_I8;
  case ElementType::I1:
    return DRAWLOOM_I1;
  }
  return DRAWLOOM_I8; // All types are listed.
}

static DrawloomType typeAt(const std::vector<ValueType> &types, size_t index) {
  if (index >= types.size())
    return {};
  const ValueType &type = types[index];
  return {elementOf(type.element), type.shape.size(), type.shape.data(),
          type.bytes()};
}
DrawloomType drawloomArgumentType(const DrawloomFunction *function,
                                  size_t index) {
  return typeAt(function->signature->arguments, index);
}
DrawloomType drawloomResultType(const DrawloomFunction *function,
                                size_t index) {
  return typeAt(function->signature->results, index);
}
static const char *nameAt(const std::vector<ValueType> &types, size_t index) {
  return index < types.size() ? types[index].name.c_str() : "";
}
const char *drawloomArgumentName(const DrawloomFunction *function,
                                 size_t index) {
  return nameAt(function->signature->arguments, index);
}
const char *drawloomResultName(const DrawloomFunction *function, size_t index) {
  return nameAt(function->signature->results, index);
}

/// The number of the value of a name, or an error that lists all names.
static DrawloomError *findNamed(const Signature &signature, const char *kind,
                                const std::vector<ValueType> &types,
                                const char *name, size_t *index) {
  *index = 0;
  std::string known;
  for (size_t i = 0; i < types.size(); ++i) {
    if (!types[i].name.empty() && types[i].name == name) {
      *index = i;
      return nullptr;
    }
    if (!types[i].name.empty())
      known += (known.empty() ? "" : ", ") + types[i].name;
  }
  return makeError(DRAWLOOM_ERROR_CALL,
                   "@" + signature.name + " has no " + kind + " '" + name +
                       (known.empty()
                            ? "': its " + std::string(kind) + "s have no names"
                            : "'; it has " + known));
}
DrawloomError *drawloomArgumentFind(const DrawloomFunction *function,
                                    const char *name, size_t *index) {
  return findNamed(*function->signature, "argument",
                   function->signature->arguments, name, index);
}
DrawloomError *drawloomResultFind(const DrawloomFunction *function,
                                  const char *name, size_t *index) {
  return findNamed(*function->signature, "result", function->signature->results,
                   name, index);
}

static int isScalarAt(const std::vector<ValueType> &types, size_t index) {
  return index < types.size() && types[index].isScalar;
}
int drawloomArgumentIsScalar(const DrawloomFunction *function, size_t index) {
  return isScalarAt(function->signature->arguments, index);
}
int drawloomResultIsScalar(const DrawloomFunction *function, size_t index) {
  return isScalarAt(function->signature->results, index);
}
int64_t drawloomFunctionStored(const DrawloomFunction *function) {
  return function->signature->recordBytes;
}

int64_t drawloomFunctionWorkspace(const DrawloomFunction *function) {
  return function->signature->workspaceBytes;
}

size_t drawloomFunctionOpenExtents(const DrawloomFunction *function) {
  return static_cast<size_t>(function->signature->openExtents);
}

DrawloomError *drawloomFunctionBind(const DrawloomFunction *function,
                                    const DrawloomExtents *arguments,
                                    size_t argumentCount,
                                    DrawloomBoundFunction **result) {
  *result = nullptr;
  if (!function->program)
    return drawloomCall(function, nullptr, 0, nullptr, 0, 1);
  std::vector<std::vector<int64_t>> shapes;
  for (size_t i = 0; i < argumentCount; ++i)
    shapes.emplace_back(arguments[i].extents,
                        arguments[i].extents + arguments[i].rank);
  Result<BoundSignature> bound = bind(*function->signature, shapes);
  if (!bound.ok())
    return makeError(DRAWLOOM_ERROR_CALL, bound.message());
  auto made = std::make_unique<DrawloomBoundFunction>();
  made->bound = std::move(*bound);
  made->function = {function->program, &made->bound.signature, function->index,
                    made->bound.extents.data()};
  *result = made.release();
  return nullptr;
}

const DrawloomFunction *
drawloomBoundFunction(const DrawloomBoundFunction *bound) {
  return &bound->function;
}

void drawloomBoundFunctionDestroy(DrawloomBoundFunction *bound) {
  delete bound;
}

static DrawloomError *refuseCount(const Signature &signature, const char *kind,
                                  size_t takes, size_t given) {
  return makeError(DRAWLOOM_ERROR_CALL, "@" + signature.name + " has " +
                                            std::to_string(takes) + " " + kind +
                                            "s, but " + std::to_string(given) +
                                            " are given");
}

static DrawloomError *refuse(const Signature &signature, const char *kind,
                             size_t index, const std::string &why) {
  const std::vector<ValueType> &types = kind == std::string_view("result")
                                            ? signature.results
                                            : signature.arguments;
  return makeError(DRAWLOOM_ERROR_CALL, valueInWords(kind, index, types) +
                                            " of @" + signature.name + " " +
                                            why);
}

/// Refuses what a call must not be given: another number of buffers, a wrong
/// size, a null or badly aligned pointer.
static DrawloomError *checkBuffers(const Signature &signature, const char *kind,
                                   const std::vector<ValueType> &types,
                                   const DrawloomBuffer *buffers,
                                   size_t count) {
  if (count != types.size())
    return refuseCount(signature, kind, types.size(), count);
  for (size_t i = 0; i < count; ++i) {
    auto bytes = static_cast<uint64_t>(types[i].bytes());
    if (buffers[i].bytes != bytes)
      return refuse(signature, kind, i,
                    "takes " + std::to_string(bytes) +
                        " bytes, but the buffer has " +
                        std::to_string(buffers[i].bytes));
    if (bytes == 0)
      continue;
    if (!buffers[i].data)
      return refuse(signature, kind, i, "is a null pointer");
    auto alignment = static_cast<uint64_t>(elementBytes(types[i].element));
    if (reinterpret_cast<uintptr_t>(buffers[i].data) % alignment != 0)
      return refuse(signature, kind, i,
                    "is not aligned to its elements, " +
                        std::to_string(alignment) + " bytes each");
  }
  return nullptr;
}

namespace {
struct Region {
  uintptr_t begin, end;
  bool result;
  size_t index;
};
} // namespace

/// Refuses a result that shares memory with an argument or another result.
static DrawloomError *checkOverlap(const Signature &signature,
                                   const DrawloomBuffer *arguments,
                                   const DrawloomBuffer *results) {
  ShortArray<Region> regions(signature.arguments.size() +
                             signature.results.size());
  Region *end = regions.data();
  auto add = [&](const DrawloomBuffer *buffers, size_t count, bool result) {
    for (size_t i = 0; i < count; ++i)
      if (buffers[i].bytes > 0) {
        auto begin = reinterpret_cast<uintptr_t>(buffers[i].data);
        *end++ = {begin, begin + buffers[i].bytes, result, i};
      }
  };
  add(arguments, signature.arguments.size(), false);
  add(results, signature.results.size(), true);
  std::sort(regions.data(), end,
            [](const Region &a, const Region &b) { return a.begin < b.begin; });
  // The furthest end so far, of any buffer and of a result.
  const Region *any = nullptr, *result = nullptr;
  for (const Region *at = regions.data(); at != end; ++at) {
    const Region &region = *at;
    const Region *other = region.result ? any : result;
    if (other && other->end > region.begin) {
      auto name = [&](const Region &r) {
        return r.result
                   ? valueInWords("result", r.index, signature.results)
                   : valueInWords("argument", r.index, signature.arguments);
      };
      return makeError(DRAWLOOM_ERROR_CALL,
                       name(region) + " and " + name(*other) + " of @" +
                           signature.name +
                           " share memory; only arguments may");
    }
    if (!any || region.end > any->end)
      any = &region;
    if (region.result && (!result || region.end > result->end))
      result = &region;
  }
  return nullptr;
}

static DrawloomError *checkAll(const Signature &signature,
                               const DrawloomBuffer *arguments,
                               size_t argumentCount,
                               const DrawloomBuffer *results,
                               size_t resultCount) {
  if (DrawloomError *error = checkBuffers(
          signature, "argument", signature.arguments, arguments, argumentCount))
    return error;
  if (DrawloomError *error = checkBuffers(
          signature, "result", signature.results, results, resultCount))
    return error;
  return checkOverlap(signature, arguments, results);
}

DrawloomError *drawloomCall(const DrawloomFunction *function,
                            const DrawloomBuffer *arguments,
                            size_t argumentCount, const DrawloomBuffer *results,
                            size_t resultCount, unsigned threads) {
  const Signature &signature = *function->signature;
  if (!function->program)
    return makeError(DRAWLOOM_ERROR_CALL,
                     "@" + signature.name +
                         " is parsed, not compiled: drawloomCompile does that");
  if (threads == 0)
    return makeError(DRAWLOOM_ERROR_CALL,
                     "@" + signature.name + " cannot run on 0 threads");
  if (signature.isOpen())
    return makeError(DRAWLOOM_ERROR_CALL,
                     "@" + signature.name +
                         " has open extents, which memory does not tell: "
                         "drawloomFunctionBind says what they are, and "
                         "drawloomCallTensors reads them off the tensors");
  if (DrawloomError *error =
          checkAll(signature, arguments, argumentCount, results, resultCount))
    return error;
  ShortArray<const void *> from(argumentCount);
  ShortArray<void *> to(resultCount);
  for (size_t i = 0; i < argumentCount; ++i)
    from[i] = arguments[i].data;
  for (size_t i = 0; i < resultCount; ++i)
    to[i] = results[i].data;
  // What is left to fail is memory, a device, or a store: the rest was checked
  // above.
  Status status =
      function->program->run(function->index, from.data(), to.data(), threads,
                             nullptr, function->extents);
  if (status.ok())
    return nullptr;
  return makeError(status.isStorageError()         ? DRAWLOOM_ERROR_STORAGE
                   : function->program->onDevice() ? DRAWLOOM_ERROR_DEVICE
                                                   : DRAWLOOM_ERROR_MEMORY,
                   status.message());
}

void drawloomUseThreads(const DrawloomThreads *threads) {
  useTeam(threads ? Team{threads->context, threads->run} : Team());
}

//===----------------------------------------------------------------------===//
// DLPack
//===----------------------------------------------------------------------===//

// What DLPack lays down.
enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLBool = 6 };
enum { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLCUDAManaged = 13 };

static_assert(sizeof(DrawloomTensor) == 48 &&
                  offsetof(DrawloomTensor, rank) == 16 &&
                  offsetof(DrawloomTensor, elementCode) == 20 &&
                  offsetof(DrawloomTensor, extents) == 24,
              "the layout of DLTensor");

/// The code that DLPack has for a type; its bits are eight times its bytes.
static int codeOf(ElementType type) {
  switch (type) {
  case ElementType::F64:
  case ElementType::F32:
  case ElementType::F16:
    return kDLFloat;
  case ElementType::BF16:
    return kDLBfloat;
  case ElementType::I64:
  case ElementType::I32:
  case ElementType::I8:
    return kDLInt;
  case ElementType::I1:
    return kDLBool;
  }
  return -1; // All types are listed.
}

static std::string nameOf(int code, int64_t bits) {
  switch (code) {
  case kDLInt:
    return "i" + std::to_string(bits);
  case kDLUInt:
    return "u" + std::to_string(bits);
  case kDLFloat:
    return "f" + std::to_string(bits);
  case kDLBfloat:
    return "bf" + std::to_string(bits);
  case kDLBool:
    return "bool";
  default:
    return "type " + std::to_string(code) + " of " + std::to_string(bits) +
           " bits";
  }
}

static std::string shapeText(const int64_t *extents, size_t rank) {
  std::string text = "(";
  for (size_t i = 0; i < rank; ++i)
    text += (i ? ", " : "") + std::to_string(extents[i]);
  return text + ")";
}

/// Whether the strides are those of a dense row-major tensor. That of an
/// extent of 1 is never used, nor any of a tensor without elements.
static bool isDense(const DrawloomTensor &tensor, const ValueType &type) {
  if (!tensor.strides || type.elements() == 0)
    return true;
  int64_t stride = 1;
  for (size_t i = type.shape.size(); i-- > 0;) {
    if (type.shape[i] != 1 && tensor.strides[i] != stride)
      return false;
    stride *= type.shape[i];
  }
  return true;
}

static bool isOnHost(const DrawloomTensor &tensor) {
  return tensor.deviceType == kDLCPU || tensor.deviceType == kDLCUDAHost;
}

static std::string deviceText(const DrawloomTensor &tensor) {
  if (isOnHost(tensor))
    return "in the host's memory";
  if (tensor.deviceType == kDLCUDA || tensor.deviceType == kDLCUDAManaged)
    return "on CUDA device " + std::to_string(tensor.deviceId);
  return "on a device of DLPack's type " + std::to_string(tensor.deviceType);
}

/// Why a tensor is not where a call of the host's takes it; empty where it is.
static std::string whyNotOnHost(const DrawloomTensor &tensor,
                                const DeviceCalls *device) {
  if (isOnHost(tensor))
    return "";
  return "is " + deviceText(tensor) +
         (device ? ", but this call copies from and to the host's memory; "
                   "drawloomCallTensorsOnStream takes tensors of the device"
                 : ", but the function reads the host's memory; copy it "
                   "there");
}

/// The same of a call on a stream.
static std::string whyNotOnDevice(const DrawloomTensor &tensor,
                                  const DeviceCalls &device, bool isNumber) {
  if (isNumber)
    return isOnHost(tensor) ? ""
                            : "is " + deviceText(tensor) +
                                  ", but it is a number that kernels get by "
                                  "value: give it in the host's memory";
  bool isCuda =
      tensor.deviceType == kDLCUDA || tensor.deviceType == kDLCUDAManaged;
  if (isCuda && tensor.deviceId == device.device())
    return "";
  std::string here =
      "the program runs on CUDA device " + std::to_string(device.device());
  return "is " + deviceText(tensor) + ", but " + here +
         (isCuda
              ? ": it is loaded for one device; target 'cuda:" +
                    std::to_string(tensor.deviceId) + "' is that of the tensor"
              : ", and its other tensors are taken from there; copy it to "
                "the device, or give all in the host's memory");
}

/// Makes buffers of tensors, or says which does not fit. `whyNotHere` says so
/// of the place of one.
template <typename Fn>
static DrawloomError *buffersOf(const Signature &signature, const char *kind,
                                const std::vector<ValueType> &types,
                                const DrawloomTensor *const *tensors,
                                size_t count, Fn whyNotHere,
                                std::vector<DrawloomBuffer> &buffers) {
  if (count != types.size())
    return refuseCount(signature, kind, types.size(), count);
  for (size_t i = 0; i < count; ++i) {
    const ValueType &type = types[i];
    if (!tensors[i])
      return refuse(signature, kind, i, "is no tensor but a null pointer");
    const DrawloomTensor &tensor = *tensors[i];
    if (std::string why = whyNotHere(tensor, i); !why.empty())
      return refuse(signature, kind, i, why);
    int64_t bits = 8 * elementBytes(type.element);
    int code = codeOf(type.element);
    if (tensor.lanes != 1)
      return refuse(signature, kind, i,
                    "has elements of " + std::to_string(tensor.lanes) +
                        " lanes, not of one");
    if (tensor.elementCode != code || tensor.elementBits != bits)
      return refuse(signature, kind, i,
                    "takes elements of " + nameOf(code, bits) +
                        ", but the tensor has " +
                        nameOf(tensor.elementCode, tensor.elementBits));
    auto rank = static_cast<int32_t>(type.shape.size());
    bool same = tensor.rank == rank &&
                (rank == 0 || (tensor.extents &&
                               std::equal(type.shape.begin(), type.shape.end(),
                                          tensor.extents)));
    if (!same)
      return refuse(
          signature, kind, i,
          "takes shape " + shapeText(type.shape.data(), type.shape.size()) +
              ", but the tensor has " +
              (tensor.rank >= 0 && (tensor.extents || tensor.rank == 0)
                   ? shapeText(tensor.extents, static_cast<size_t>(tensor.rank))
                   : "none"));
    if (!isDense(tensor, type))
      return refuse(signature, kind, i,
                    "is not dense and row-major: its strides are " +
                        shapeText(tensor.strides, type.shape.size()) +
                        "; make it contiguous");
    char *data = static_cast<char *>(tensor.data);
    buffers.push_back({data ? data + tensor.byteOffset : nullptr,
                       static_cast<size_t>(type.bytes())});
  }
  return nullptr;
}

/// The function with the extents that its tensors have.
static DrawloomError *
bindTensors(const DrawloomFunction *function,
            const DrawloomTensor *const *arguments, size_t argumentCount,
            std::unique_ptr<DrawloomBoundFunction> &owner) {
  std::vector<DrawloomExtents> shapes;
  for (size_t i = 0; i < argumentCount; ++i) {
    bool hasShape = arguments[i] && arguments[i]->rank > 0;
    shapes.push_back({hasShape ? arguments[i]->extents : nullptr,
                      hasShape ? static_cast<size_t>(arguments[i]->rank) : 0});
    if (hasShape && !arguments[i]->extents)
      return refuse(*function->signature, "argument", i,
                    "has a rank and no extents");
  }
  DrawloomBoundFunction *bound = nullptr;
  DrawloomError *error =
      drawloomFunctionBind(function, shapes.data(), shapes.size(), &bound);
  owner.reset(bound);
  return error;
}

DrawloomError *drawloomCallTensors(const DrawloomFunction *function,
                                   const DrawloomTensor *const *arguments,
                                   size_t argumentCount,
                                   const DrawloomTensor *const *results,
                                   size_t resultCount, unsigned threads) {
  const Signature &signature = *function->signature;
  std::vector<DrawloomBuffer> in, out;
  if (!function->program)
    return drawloomCall(function, nullptr, 0, nullptr, 0, threads);
  if (signature.isOpen()) {
    std::unique_ptr<DrawloomBoundFunction> bound;
    if (DrawloomError *error =
            bindTensors(function, arguments, argumentCount, bound))
      return error;
    return drawloomCallTensors(&bound->function, arguments, argumentCount,
                               results, resultCount, threads);
  }
  auto whyNotHere = [&](const DrawloomTensor &tensor, size_t) {
    return whyNotOnHost(tensor, function->program->onDevice());
  };
  if (DrawloomError *error =
          buffersOf(signature, "argument", signature.arguments, arguments,
                    argumentCount, whyNotHere, in))
    return error;
  if (DrawloomError *error = buffersOf(signature, "result", signature.results,
                                       results, resultCount, whyNotHere, out))
    return error;
  return drawloomCall(function, in.data(), in.size(), out.data(), out.size(),
                      threads);
}

//===----------------------------------------------------------------------===//
// On a GPU
//===----------------------------------------------------------------------===//

static DrawloomError *refuseHost(const std::string &what) {
  return makeError(DRAWLOOM_ERROR_CALL,
                   what + " runs on the host, not on a GPU: load or compile it "
                          "for target 'cuda'");
}

static const DeviceCalls *deviceOf(const DrawloomProgram *program) {
  const Executable *loaded = program->loaded->program.get();
  return loaded ? loaded->onDevice() : nullptr;
}

static DrawloomError *deviceError(const Status &status) {
  return status.ok() ? nullptr
                     : makeError(DRAWLOOM_ERROR_DEVICE, status.message());
}

void drawloomProgramDevice(const DrawloomProgram *program, int32_t *deviceType,
                           int32_t *deviceId) {
  const DeviceCalls *device = deviceOf(program);
  *deviceType = device ? kDLCUDA : kDLCPU;
  *deviceId = device ? device->device() : 0;
}

int drawloomArgumentIsNumber(const DrawloomFunction *function, size_t index) {
  const DeviceCalls *device =
      function->program ? function->program->onDevice() : nullptr;
  return device && index < function->signature->arguments.size() &&
         device->takesNumber(function->index, index);
}

static DeviceAllocator &callersAllocator() {
  static thread_local DeviceAllocator allocator;
  return allocator;
}

void drawloomUseDeviceAllocator(const DrawloomDeviceAllocator *allocator) {
  DeviceAllocator none;
  callersAllocator() =
      allocator ? DeviceAllocator{allocator->context, allocator->allocate,
                                  allocator->release}
                : none;
}

DrawloomError *drawloomCallTensorsOnStream(
    const DrawloomFunction *function, const DrawloomTensor *const *arguments,
    size_t argumentCount, const DrawloomTensor *const *results,
    size_t resultCount, void *stream) {
  const Signature &signature = *function->signature;
  if (!function->program)
    return drawloomCall(function, nullptr, 0, nullptr, 0, 1);
  const DeviceCalls *device = function->program->onDevice();
  if (!device)
    return refuseHost("@" + signature.name);
  if (signature.isOpen()) {
    std::unique_ptr<DrawloomBoundFunction> bound;
    if (DrawloomError *error =
            bindTensors(function, arguments, argumentCount, bound))
      return error;
    return drawloomCallTensorsOnStream(&bound->function, arguments,
                                       argumentCount, results, resultCount,
                                       stream);
  }
  std::vector<DrawloomBuffer> in, out;
  if (DrawloomError *error = buffersOf(
          signature, "argument", signature.arguments, arguments, argumentCount,
          [&](const DrawloomTensor &tensor, size_t i) {
            return whyNotOnDevice(tensor, *device,
                                  device->takesNumber(function->index, i));
          },
          in))
    return error;
  if (DrawloomError *error = buffersOf(
          signature, "result", signature.results, results, resultCount,
          [&](const DrawloomTensor &tensor, size_t) {
            return whyNotOnDevice(tensor, *device, false);
          },
          out))
    return error;
  if (DrawloomError *error =
          checkAll(signature, in.data(), in.size(), out.data(), out.size()))
    return error;
  std::vector<const void *> from;
  std::vector<void *> to;
  for (const DrawloomBuffer &buffer : in)
    from.push_back(buffer.data);
  for (const DrawloomBuffer &buffer : out)
    to.push_back(buffer.data);
  const DeviceAllocator &given = callersAllocator();
  return deviceError(device->run(function->index, from.data(), to.data(),
                                 stream, function->extents,
                                 given.allocate ? &given : nullptr));
}

DrawloomError *drawloomDeviceAllocate(const DrawloomProgram *program,
                                      size_t bytes, void *stream,
                                      void **memory) {
  *memory = nullptr;
  const DeviceCalls *device = deviceOf(program);
  if (!device)
    return refuseHost("the program");
  Result<void *> given = device->allocate(bytes, stream);
  if (given.ok())
    *memory = *given;
  return deviceError(given.status());
}

void drawloomDeviceRelease(const DrawloomProgram *program, void *memory,
                           void *stream) {
  if (const DeviceCalls *device = deviceOf(program))
    device->release(memory, stream);
}

DrawloomError *drawloomDeviceUpload(const DrawloomProgram *program,
                                    void *deviceMemory, const void *host,
                                    size_t bytes, void *stream) {
  const DeviceCalls *device = deviceOf(program);
  return device ? deviceError(device->upload(deviceMemory, host, bytes, stream))
                : refuseHost("the program");
}

DrawloomError *drawloomDeviceDownload(const DrawloomProgram *program,
                                      void *host, const void *deviceMemory,
                                      size_t bytes, void *stream) {
  const DeviceCalls *device = deviceOf(program);
  return device
             ? deviceError(device->download(host, deviceMemory, bytes, stream))
             : refuseHost("the program");
}

DrawloomError *drawloomDeviceOrder(const DrawloomProgram *program, void *before,
                                   void *after) {
  const DeviceCalls *device = deviceOf(program);
  return device ? deviceError(device->order(before, after))
                : refuseHost("the program");
}
