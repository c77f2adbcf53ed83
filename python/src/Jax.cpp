//===- Jax.cpp - programs as functions that XLA calls ---------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One handler serves all programs. A call's attributes say which:
//
//   key      names the program; equal keys mean equal sources and options
//   source   its text, @main the only public function
//   name     of the source, for messages
//   target   of the compiler: "cpu", or "cuda" on the device that XLA names
//   isa      of the compiler
//   shares   how many devices run this computation at once, in one process;
//            each takes its share of the processors
//
// Nothing in them holds for one process alone. An executable may come from
// JAX's cache on disk, or from another machine: where this process does not
// know the key, the program is compiled from its text when XLA instantiates
// the call; for a GPU when it initializes the call on one.
//
//===----------------------------------------------------------------------===//

#include "Jax.h"
#include "Exchange.h"
#include "Objects.h"
#include "XlaFfi.h"
#include <algorithm>
#include <mutex>
#include <nanobind/stl/string.h>
#include <sched.h>
#include <shared_mutex>
#include <string_view>
#include <unordered_map>

namespace nb = nanobind;

namespace drawloom::python {

namespace {
/// The programs that executables of this process may call. None is ever
/// dropped: XLA does not say when the last executable that calls one is gone.
struct Table {
  std::shared_mutex mutex;
  std::unordered_map<std::string, const DrawloomFunction *> functions;
  /// What owns the functions that Python made.
  std::vector<std::shared_ptr<Program>> owners;
};

/// An error that is not XLA's yet.
struct Failure {
  xla::ErrorCode code;
  std::string message;
};

struct Attributes {
  std::string_view key, source, name, target, isa;
  int64_t shares = 1;
};

/// Where a call runs, as XLA says.
struct Place {
  int32_t device = 0;
  void *stream = nullptr;
};
} // namespace

static Table &table() {
  // Calls may run while the process ends: it is not destroyed.
  static auto *instance = new Table;
  return *instance;
}

static xla::Error *makeError(const xla::CallFrame &frame,
                             const Failure &failure) {
  xla::ErrorCreateArguments arguments = {};
  arguments.structSize = xla::errorCreateSize;
  std::string message = "drawloom: " + failure.message;
  arguments.message = message.c_str();
  arguments.code = failure.code;
  return frame.api->createError(&arguments);
}

/// Takes over the error.
static Failure describe(DrawloomError *error) {
  Failure failure = {xla::ErrorCode::internal, ""};
  switch (drawloomErrorCode(error)) {
  case DRAWLOOM_ERROR_PROGRAM:
  case DRAWLOOM_ERROR_CALL:
    failure.code = xla::ErrorCode::invalidArgument;
    break;
  case DRAWLOOM_ERROR_TARGET:
    failure.code = xla::ErrorCode::failedPrecondition;
    break;
  case DRAWLOOM_ERROR_MEMORY:
    failure.code = xla::ErrorCode::resourceExhausted;
    break;
  case DRAWLOOM_ERROR_INTERNAL:
  case DRAWLOOM_ERROR_CANCELLED:
  case DRAWLOOM_ERROR_FILE:
  case DRAWLOOM_ERROR_DEVICE:
  case DRAWLOOM_ERROR_STORAGE:
    break;
  }
  if (std::string location = drawloomErrorLocation(error); !location.empty())
    failure.message = location + ": ";
  failure.message += drawloomErrorMessage(error);
  drawloomErrorDestroy(error);
  return failure;
}

/// Says to XLA which version of the interface this is.
static xla::Error *describeHandler(const xla::CallFrame &frame,
                                   xla::Metadata &metadata) {
  // Of the minor versions, the one that both sides know.
  int minor = frame.api ? std::min(frame.api->version.minor, xla::minorVersion)
                        : xla::minorVersion;
  metadata.version = {sizeof(xla::Version), nullptr, xla::majorVersion, minor};
  metadata.traits = 0;
  if (metadata.structSize >= sizeof(xla::Metadata))
    metadata.stateType = 0;
  return nullptr;
}

static bool read(const xla::Attributes &given, Attributes &attributes) {
  int found = 0;
  for (int64_t i = 0; i < given.size; ++i) {
    std::string_view name(given.names[i]->data, given.names[i]->size);
    if (given.types[i] == xla::AttributeType::text) {
      auto *text = static_cast<xla::Text *>(given.values[i]);
      std::string_view value(text->data, text->size);
      for (auto [known, place] : {std::pair{"key", &attributes.key},
                                  {"source", &attributes.source},
                                  {"name", &attributes.name},
                                  {"target", &attributes.target},
                                  {"isa", &attributes.isa}})
        if (name == known) {
          *place = value;
          ++found;
        }
    } else if (given.types[i] == xla::AttributeType::scalar &&
               name == "shares") {
      auto *scalar = static_cast<xla::Scalar *>(given.values[i]);
      if (scalar->type == xla::DataType::s64)
        attributes.shares = *static_cast<int64_t *>(scalar->value);
      else if (scalar->type == xla::DataType::s32)
        attributes.shares = *static_cast<int32_t *>(scalar->value);
      else
        continue;
      ++found;
    }
  }
  return found == 6 && attributes.shares > 0;
}

static const DrawloomFunction *find(const std::string &key) {
  std::shared_lock<std::shared_mutex> lock(table().mutex);
  auto known = table().functions.find(key);
  return known == table().functions.end() ? nullptr : known->second;
}

/// Compiles what Python did not, and remembers it.
static const DrawloomFunction *compile(const std::string &key,
                                       const std::string &target,
                                       const Attributes &attributes,
                                       Failure &failure) {
  std::string isa(attributes.isa), name(attributes.name);
  DrawloomCompilerOptions options = {};
  options.size = sizeof(options);
  options.target = target.c_str();
  options.isa = isa.c_str();
  DrawloomCompiler *compiler = nullptr;
  if (DrawloomError *error = drawloomCompilerCreate(&options, &compiler)) {
    failure = describe(error);
    return nullptr;
  }
  DrawloomSource source = {name.c_str(), attributes.source.data(),
                           attributes.source.size()};
  DrawloomProgram *program = nullptr;
  DrawloomError *error =
      drawloomCompile(compiler, &source, 1, nullptr, 0, &program);
  drawloomCompilerDestroy(compiler);
  const DrawloomFunction *function = nullptr;
  if (!error)
    error = drawloomFunctionFind(program, "main", &function);
  if (error) {
    failure = describe(error);
    drawloomProgramDestroy(program);
    return nullptr;
  }
  std::unique_lock<std::shared_mutex> lock(table().mutex);
  auto [place, added] = table().functions.try_emplace(key, function);
  if (!added)
    drawloomProgramDestroy(program); // Another thread was faster.
  return place->second;
}

static size_t bytesOf(xla::DataType type) {
  switch (type) {
  case xla::DataType::pred:
  case xla::DataType::s8:
    return 1;
  case xla::DataType::f16:
  case xla::DataType::bf16:
    return 2;
  case xla::DataType::s32:
  case xla::DataType::f32:
    return 4;
  case xla::DataType::s64:
  case xla::DataType::f64:
    return 8;
  }
  return 0;
}

static xla::DataType dataType(DrawloomElement element) {
  switch (element) {
  case DRAWLOOM_F64:
    return xla::DataType::f64;
  case DRAWLOOM_F32:
    return xla::DataType::f32;
  case DRAWLOOM_BF16:
    return xla::DataType::bf16;
  case DRAWLOOM_F16:
    return xla::DataType::f16;
  case DRAWLOOM_I64:
    return xla::DataType::s64;
  case DRAWLOOM_I32:
    return xla::DataType::s32;
  case DRAWLOOM_I8:
    return xla::DataType::s8;
  case DRAWLOOM_I1:
    return xla::DataType::pred;
  }
  return {};
}

/// The buffers as the C interface has them; false where one is not of the
/// program's element type. Shapes may differ, as [2, 3, 8] and [6, 8] do: all
/// dense. Their number and bytes are checked by the call.
static bool gather(const xla::Operands &operands,
                   const DrawloomFunction *function,
                   DrawloomType (*typeOf)(const DrawloomFunction *, size_t),
                   std::vector<DrawloomBuffer> &buffers) {
  buffers.reserve(operands.size);
  for (int64_t i = 0; i < operands.size; ++i) {
    auto *buffer = static_cast<xla::Buffer *>(operands.values[i]);
    if (operands.types[i] != xla::ArgumentType::buffer ||
        buffer->type != dataType(typeOf(function, i).element))
      return false;
    size_t bytes = bytesOf(buffer->type);
    for (int64_t d = 0; d < buffer->rank; ++d)
      bytes *= static_cast<size_t>(buffer->extents[d]);
    buffers.push_back({buffer->data, bytes});
  }
  return true;
}

/// The function for the extents of these buffers. A program's rows are all
/// dimensions in front of its others.
static DrawloomError *bind(const xla::Operands &operands,
                           const DrawloomFunction *function,
                           std::shared_ptr<DrawloomBoundFunction> &bound) {
  std::vector<std::vector<int64_t>> shapes;
  for (int64_t i = 0; i < operands.size; ++i) {
    auto *buffer = static_cast<xla::Buffer *>(operands.values[i]);
    std::vector<int64_t> shape(buffer->extents, buffer->extents + buffer->rank);
    size_t rank = static_cast<size_t>(i) < drawloomArgumentCount(function)
                      ? drawloomArgumentType(function, i).rank
                      : shape.size();
    for (; shape.size() > rank && shape.size() > 1; shape.erase(shape.begin()))
      shape[1] *= shape[0];
    if (shape.size() < rank)
      shape.insert(shape.begin(), rank - shape.size(), 1);
    shapes.push_back(std::move(shape));
  }
  std::vector<DrawloomExtents> extents;
  for (const std::vector<int64_t> &shape : shapes)
    extents.push_back({shape.data(), shape.size()});
  DrawloomBoundFunction *made = nullptr;
  DrawloomError *error =
      drawloomFunctionBind(function, extents.data(), extents.size(), &made);
  if (!error)
    bound = {made, drawloomBoundFunctionDestroy};
  return error;
}

static unsigned threadsFor(int64_t shares) {
  static const auto processors = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof(set), &set) == 0
               ? std::max(CPU_COUNT(&set), 1)
               : 1;
  }();
  return static_cast<unsigned>(std::max<int64_t>(processors / shares, 1));
}

/// Takes over XLA's error, if it is one.
static bool isWell(const xla::CallFrame &frame, xla::Error *error,
                   Failure &failure) {
  if (!error)
    return true;
  xla::ErrorMessageArguments asked = {sizeof(asked), nullptr, error, nullptr};
  frame.api->messageOf(&asked);
  failure = {xla::ErrorCode::internal, asked.message ? asked.message : ""};
  xla::ErrorDestroyArguments done = {sizeof(done), nullptr, error};
  frame.api->destroyError(&done);
  return false;
}

static bool findPlace(const xla::CallFrame &frame, Place &place,
                      Failure &failure) {
  if (frame.api->structSize < sizeof(xla::Api)) {
    failure = {xla::ErrorCode::failedPrecondition,
               "this version of jaxlib does not say which GPU a call is for: "
               "install a newer one"};
    return false;
  }
  xla::DeviceArguments device = {xla::deviceArgumentsSize, nullptr,
                                 frame.context, 0};
  if (!isWell(frame, frame.api->device(&device), failure))
    return false;
  place.device = device.device;
  if (frame.stage != xla::Stage::execute)
    return true;
  xla::StreamArguments stream = {sizeof(stream), nullptr, frame.context,
                                 nullptr};
  if (!isWell(frame, frame.api->stream(&stream), failure))
    return false;
  place.stream = stream.stream;
  return true;
}

namespace {
/// Workspaces of a call, from XLA's allocator.
class Scratch {
public:
  explicit Scratch(const xla::CallFrame &frame) : frame(frame) {
    DrawloomDeviceAllocator allocator;
    allocator.context = this;
    allocator.allocate = [](void *self, size_t bytes, void *) {
      return static_cast<Scratch *>(self)->allocate(bytes);
    };
    allocator.release = [](void *self, void *memory, void *) {
      static_cast<Scratch *>(self)->release(memory);
    };
    drawloomUseDeviceAllocator(&allocator);
  }
  Scratch(const Scratch &) = delete;
  ~Scratch() { drawloomUseDeviceAllocator(nullptr); }

  /// What XLA said where it had none.
  Failure failure = {};

private:
  void *allocate(size_t bytes) {
    xla::AllocateArguments asked = {sizeof(asked), nullptr, frame.context,
                                    bytes,         256,     nullptr};
    if (!isWell(frame, frame.api->allocate(&asked), failure))
      return nullptr;
    sizes[asked.data] = bytes;
    return asked.data;
  }
  void release(void *memory) {
    xla::FreeArguments asked = {sizeof(asked), nullptr, frame.context,
                                sizes[memory], memory};
    Failure ignored = {};
    (void)isWell(frame, frame.api->free(&asked), ignored);
  }

  const xla::CallFrame &frame;
  std::unordered_map<void *, size_t> sizes;
};
} // namespace

/// The call on the device's memory, on XLA's stream.
static xla::Error *runOnDevice(const xla::CallFrame &frame, const Place &place,
                               const DrawloomFunction *function,
                               const std::vector<DrawloomBuffer> &arguments,
                               const std::vector<DrawloomBuffer> &results) {
  std::vector<DrawloomTensor> tensors(arguments.size() + results.size());
  std::vector<const DrawloomTensor *> pointers;
  for (size_t i = 0; i < tensors.size(); ++i) {
    bool isArgument = i < arguments.size();
    size_t index = isArgument ? i : i - arguments.size();
    DrawloomType type = isArgument ? drawloomArgumentType(function, index)
                                   : drawloomResultType(function, index);
    const DrawloomBuffer &buffer =
        isArgument ? arguments[index] : results[index];
    nb::dlpack::dtype dtype = dtypeOf(type.element);
    DrawloomTensor &tensor = tensors[i];
    tensor = {buffer.data,
              nb::device::cuda::value,
              place.device,
              static_cast<int32_t>(type.rank),
              dtype.code,
              dtype.bits,
              1,
              type.extents,
              nullptr,
              0};
    pointers.push_back(&tensor);
  }
  Scratch scratch(frame);
  DrawloomError *error = drawloomCallTensorsOnStream(
      function, pointers.data(), arguments.size(),
      pointers.data() + arguments.size(), results.size(), place.stream);
  if (!error)
    return nullptr;
  Failure failure = describe(error);
  if (!scratch.failure.message.empty()) {
    failure.code = xla::ErrorCode::resourceExhausted;
    failure.message += ": " + scratch.failure.message;
  }
  return makeError(frame, failure);
}

static xla::Error *run(xla::CallFrame *frame) {
  for (xla::Extension *one = frame->extensions; one; one = one->next)
    if (one->type == xla::ExtensionType::metadata)
      return describeHandler(
          *frame, *reinterpret_cast<xla::MetadataExtension *>(one)->metadata);
  if (frame->stage == xla::Stage::prepare)
    return nullptr;

  Failure failure = {xla::ErrorCode::invalidArgument, ""};
  Attributes attributes;
  if (!read(frame->attributes, attributes)) {
    failure.message = "the call lacks attributes; it was made by another "
                      "version of drawloom.jax";
    return makeError(*frame, failure);
  }
  std::string key(attributes.key), target(attributes.target);
  bool onDevice = target == "cuda";
  Place place;
  if (onDevice) {
    // Nothing is known of the device before.
    if (frame->stage == xla::Stage::instantiate)
      return nullptr;
    if (!findPlace(*frame, place, failure))
      return makeError(*frame, failure);
    target += ":" + std::to_string(place.device);
    key += "@" + target;
  }
  const DrawloomFunction *function = find(key);
  if (!function)
    function = compile(key, target, attributes, failure);
  if (!function)
    return makeError(*frame, failure);
  if (frame->stage != xla::Stage::execute)
    return nullptr;

  std::shared_ptr<DrawloomBoundFunction> bound;
  if (drawloomFunctionOpenExtents(function)) {
    if (DrawloomError *error = python::bind(frame->arguments, function, bound))
      return makeError(*frame, describe(error));
    function = drawloomBoundFunction(bound.get());
  }
  std::vector<DrawloomBuffer> arguments, results;
  if (!gather(frame->arguments, function, drawloomArgumentType, arguments) ||
      !gather(frame->results, function, drawloomResultType, results)) {
    failure.message = "the buffers of the call are not of the types that the "
                      "program '" +
                      std::string(attributes.name) + "' has";
    return makeError(*frame, failure);
  }
  if (onDevice)
    return runOnDevice(*frame, place, function, arguments, results);
  if (DrawloomError *error = drawloomCall(
          function, arguments.data(), arguments.size(), results.data(),
          results.size(), threadsFor(attributes.shares)))
    return makeError(*frame, describe(error));
  return nullptr;
}

/// What XLA calls. Its frames are C: nothing may be thrown through them.
static xla::Error *handle(xla::CallFrame *frame) {
  try {
    return run(frame);
  } catch (const std::exception &error) {
    return makeError(*frame, {xla::ErrorCode::internal, error.what()});
  }
}

void addJax(nb::module_ &module) {
  module.attr("xla_handler") =
      nb::capsule(reinterpret_cast<const void *>(&handle));
  module.def(
      "xla_known",
      [](const std::string &key, const Function &function) {
        std::unique_lock<std::shared_mutex> lock(table().mutex);
        if (table().functions.try_emplace(key, function.handle).second)
          table().owners.push_back(function.program);
      },
      nb::arg("key"), nb::arg("function"),
      "Lets executables of this process call the function by this key.");
}

} // namespace drawloom::python
