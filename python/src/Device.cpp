//===- Device.cpp - calls with arrays on a GPU ----------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arrays of a GPU come as DLPack hands them over, in order of a stream: by the
// table of C functions of their type (torch), which names the library's current
// stream, or by __dlpack__(stream=...), which makes the array ready there.
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "Arrays.h"
#include "Exchange.h"
#include "drawloom/OpenExtent.h"
#include <algorithm>
#include <array>
#include <cstring>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace drawloom::python {

// What DLPack lays down.
constexpr int32_t dlCuda = nb::device::cuda::value;
constexpr int32_t dlCudaManaged = nb::device::cuda_managed::value;

static void check(DrawloomError *error) {
  if (error)
    raise(error);
}

/// DLPack's numbers for streams: 0 stands for none, so that the legacy default
/// stream, which is 0 elsewhere, is 1.
static intptr_t toDlpack(void *stream) {
  auto number = reinterpret_cast<intptr_t>(stream);
  return number == 0 ? 1 : number;
}
static void *fromDlpack(intptr_t number) {
  return number == 1 ? nullptr : reinterpret_cast<void *>(number);
}

static std::pair<int32_t, int32_t> deviceOf(const Function &function) {
  std::pair<int32_t, int32_t> device;
  drawloomProgramDevice(function.program->handle, &device.first,
                        &device.second);
  return device;
}

/// Where an object says that its elements are; the host where it says nothing.
static int32_t deviceTypeOf(nb::handle object) {
  if (const Exchange *exchange = Exchange::of(object.type())) {
    nb::dlpack::dltensor tensor = {};
    if (!exchange->read(object.ptr(), &tensor))
      return tensor.device.device_type;
    PyErr_Clear();
  }
  nb::object ask = nb::getattr(object, "__dlpack_device__", nb::none());
  if (ask.is_none())
    return nb::device::cpu::value;
  return nb::cast<int32_t>(nb::int_(nb::object(ask()[0])));
}

static bool isOnDevice(nb::handle object) {
  int32_t type = deviceTypeOf(object);
  return type == dlCuda || type == dlCudaManaged;
}

bool isCallOnDevice(const Function &function, nb::handle arguments) {
  if (deviceOf(function).first != dlCuda)
    return false;
  for (nb::handle object : nb::cast<nb::sequence>(arguments))
    if (isOnDevice(object))
      return true;
  return false;
}

namespace {

/// Memory of a device, given back when nobody has it any more.
struct DeviceMemory {
  DeviceMemory(std::shared_ptr<Program> program, size_t bytes, void *stream)
      : program(std::move(program)), stream(stream) {
    check(drawloomDeviceAllocate(this->program->handle, bytes, stream, &data));
  }
  DeviceMemory(const DeviceMemory &) = delete;
  ~DeviceMemory() { drawloomDeviceRelease(program->handle, data, stream); }

  std::shared_ptr<Program> program;
  void *stream;
  void *data = nullptr;
};

/// A result that no library made: knows of DLPack and nothing else.
struct DeviceArray {
  std::shared_ptr<DeviceMemory> memory;
  Type type;
  int32_t device = 0;

  nb::object dlpack(nb::object stream, nb::object maxVersion,
                    nb::object dlDevice, nb::object copy) const;
};

/// What a capsule points to, DLManagedTensor, and what that stands on.
struct Exported {
  nb::dlpack::dltensor tensor = {};
  void *context = this;
  void (*destroy)(Exported *) = [](Exported *self) { delete self; };

  std::shared_ptr<DeviceMemory> memory;
  std::vector<int64_t> shape;
};
} // namespace

nb::object DeviceArray::dlpack(nb::object stream, nb::object, nb::object,
                               nb::object copy) const {
  if (!copy.is_none() && nb::cast<bool>(copy))
    throw nb::buffer_error("this array gives no copies of itself");
  // -1: the consumer takes care itself.
  intptr_t wanted = stream.is_none() ? 1 : nb::cast<intptr_t>(stream);
  if (wanted != -1)
    check(drawloomDeviceOrder(memory->program->handle, memory->stream,
                              fromDlpack(wanted)));
  auto exported = std::make_unique<Exported>();
  exported->memory = memory;
  exported->shape = type.shape;
  exported->tensor.data = memory->data;
  exported->tensor.device = {dlCuda, device};
  exported->tensor.ndim = static_cast<int32_t>(type.shape.size());
  exported->tensor.dtype = dtypeOf(type.element);
  exported->tensor.shape = exported->shape.data();
  PyObject *capsule =
      PyCapsule_New(exported.get(), "dltensor", [](PyObject *capsule) {
        // Of another name when a consumer has taken it.
        if (PyCapsule_IsValid(capsule, "dltensor"))
          delete static_cast<Exported *>(
              PyCapsule_GetPointer(capsule, "dltensor"));
      });
  if (!capsule)
    throw nb::python_error();
  exported.release();
  return nb::steal(capsule);
}

void raiseOutOfDeviceMemory(const std::string &message) {
  nb::object error =
      fromModule("drawloom._errors", "out_of_device_memory")(message);
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())),
                  error.ptr());
  throw nb::python_error();
}

namespace {
/// Calls of this thread take workspaces from a library's allocator while it
/// lives: what that keeps for the library, Drawloom need not keep again, and
/// memory of a capture stays the graph's.
class LibraryMemory {
public:
  LibraryMemory(const Exchange *exchange, int32_t device)
      : exchange(exchange), device(device) {
    if (!exchange)
      return;
    DrawloomDeviceAllocator allocator;
    allocator.context = this;
    allocator.allocate = [](void *self, size_t bytes, void *) {
      return static_cast<LibraryMemory *>(self)->allocate(bytes);
    };
    allocator.release = [](void *self, void *memory, void *) {
      static_cast<LibraryMemory *>(self)->release(memory);
    };
    drawloomUseDeviceAllocator(&allocator);
  }
  LibraryMemory(const LibraryMemory &) = delete;
  ~LibraryMemory() {
    if (exchange)
      drawloomUseDeviceAllocator(nullptr);
  }

  /// What the library said where it had none.
  std::string why;

private:
  void *allocate(size_t bytes) {
    auto count = static_cast<int64_t>(bytes);
    Exchange::Managed *made = exchange->makeManaged(
        dtypeOf(DRAWLOOM_I8), &count, 1, why, dlCuda, device);
    if (!made)
      return nullptr;
    void *data =
        static_cast<char *>(made->tensor.data) + made->tensor.byte_offset;
    used.push_back({data, made});
    return data;
  }
  void release(void *memory) {
    auto found = std::find_if(used.begin(), used.end(), [&](const auto &one) {
      return one.first == memory;
    });
    found->second->destroy(found->second);
    used.erase(found);
  }

  const Exchange *exchange;
  int32_t device;
  std::vector<std::pair<void *, Exchange::Managed *>> used;
};

/// What a call reads and writes, as the C interface takes it.
class Call {
public:
  explicit Call(const Function &function) : function(function) {
    size_t count = function.arguments.size() + function.results.size();
    tensors.reserve(count);
    // A number for each, though hardly one is needed.
    numbers.resize(count);
  }

  /// The stream that the first array's library is at, where it says so.
  void findStream(nb::handle arguments);
  void addNumber(const Function &function, size_t index, nb::handle object);
  void addArray(nb::handle object);
  void addMemory(const Type &type, void *data);
  void run();
  /// What the libraries put on their own streams from now on comes later.
  void orderBehind();

  void *stream = nullptr;
  bool given = false; ///< The caller named the stream.
  /// Of the library whose current stream it is.
  const Exchange *library = nullptr;

private:
  const Function &function;
  std::vector<DrawloomTensor> tensors;
  std::vector<std::array<char, 8>> numbers;
  std::vector<std::shared_ptr<void>> owners;
  /// Other streams, at which libraries are.
  std::vector<void *> others;
};
} // namespace

static void *currentStream(const Exchange &exchange, int32_t device) {
  void *stream = nullptr;
  if (exchange.currentStream && exchange.currentStream(dlCuda, device, &stream))
    throw nb::python_error();
  return stream;
}

void Call::findStream(nb::handle arguments) {
  if (given)
    return;
  for (nb::handle object : nb::cast<nb::sequence>(arguments))
    if (isOnDevice(object)) {
      library = Exchange::of(object.type());
      if (library)
        stream = currentStream(*library, deviceOf(function).second);
      return;
    }
}

void Call::addNumber(const Function &function, size_t index,
                     nb::handle object) {
  std::array<char, 8> &number = numbers[tensors.size()];
  storeArgument(function, index, object, number.data());
  DrawloomTensor tensor = {};
  nb::dlpack::dtype dtype = dtypeOf(function.arguments[index].element);
  tensor.data = number.data();
  tensor.deviceType = nb::device::cpu::value;
  tensor.elementCode = dtype.code;
  tensor.elementBits = dtype.bits;
  tensor.lanes = 1;
  tensors.push_back(tensor);
}

void Call::addArray(nb::handle object) {
  nb::dlpack::dltensor view = {};
  if (const Exchange *exchange = Exchange::of(object.type())) {
    // Reading waits for nothing: what the library has put on its stream comes
    // before the call.
    if (exchange->read(object.ptr(), &view))
      throw nb::python_error();
    if (view.device.device_type == dlCuda) {
      void *theirs = currentStream(*exchange, view.device.device_id);
      if (theirs != stream &&
          std::find(others.begin(), others.end(), theirs) == others.end()) {
        check(drawloomDeviceOrder(function.program->handle, theirs, stream));
        others.push_back(theirs);
      }
    }
  } else {
    nb::object capsule = nb::borrow(object);
    if (isOnDevice(object))
      capsule = object.attr("__dlpack__")(nb::arg("stream") = toDlpack(stream));
    nb::ndarray<nb::ro> array;
    if (!nb::try_cast(capsule, array, false)) {
      PyErr_Clear();
      nb::object error =
          nb::module_::import_("drawloom._errors")
              .attr("CallTypeError")(
                  "a " + typeName(object) +
                  " is no array of numbers (buffer protocol or DLPack)");
      PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())),
                      error.ptr());
      throw nb::python_error();
    }
    view.data = const_cast<void *>(static_cast<const void *>(array.data()));
    view.device = {array.device_type(), array.device_id()};
    view.ndim = static_cast<int32_t>(array.ndim());
    view.dtype = array.dtype();
    view.shape = const_cast<int64_t *>(array.shape_ptr());
    view.strides = const_cast<int64_t *>(array.stride_ptr());
    owners.push_back(std::make_shared<nb::ndarray<nb::ro>>(std::move(array)));
  }
  DrawloomTensor &tensor = tensors.emplace_back();
  static_assert(sizeof(tensor) == sizeof(view), "DLTensor's layout");
  std::memcpy(&tensor, &view, sizeof(view));
}

void Call::addMemory(const Type &type, void *data) {
  DrawloomTensor &tensor = tensors.emplace_back();
  tensor = {};
  nb::dlpack::dtype dtype = dtypeOf(type.element);
  auto [deviceType, deviceId] = deviceOf(function);
  tensor.data = data;
  tensor.deviceType = deviceType;
  tensor.deviceId = deviceId;
  tensor.rank = static_cast<int32_t>(type.shape.size());
  tensor.elementCode = dtype.code;
  tensor.elementBits = dtype.bits;
  tensor.lanes = 1;
  tensor.extents = type.shape.data();
}

void Call::run() {
  size_t takes = function.arguments.size();
  std::vector<const DrawloomTensor *> pointers;
  for (const DrawloomTensor &tensor : tensors)
    pointers.push_back(&tensor);
  DrawloomError *error = nullptr;
  std::string why;
  {
    Unlocked unlocked;
    LibraryMemory memory(library, deviceOf(function).second);
    error = drawloomCallTensorsOnStream(function.handle, pointers.data(), takes,
                                        pointers.data() + takes,
                                        pointers.size() - takes, stream);
    why = memory.why;
  }
  if (error && !why.empty()) {
    std::string message = drawloomErrorMessage(error);
    drawloomErrorDestroy(error);
    raiseOutOfDeviceMemory(message + ": " + why);
  }
  check(error);
}

void Call::orderBehind() {
  for (void *other : others)
    check(drawloomDeviceOrder(function.program->handle, stream, other));
}

/// The function with the extents that its arguments have.
static std::shared_ptr<Function> bindTo(const Function &function,
                                        nb::handle arguments) {
  std::vector<std::vector<int64_t>> shapes;
  std::vector<DrawloomExtents> given;
  for (nb::handle object : nb::cast<nb::sequence>(arguments)) {
    std::vector<int64_t> &shape = shapes.emplace_back();
    if (nb::hasattr(object, "shape"))
      for (nb::handle extent : object.attr("shape"))
        shape.push_back(nb::cast<int64_t>(extent));
  }
  for (const std::vector<int64_t> &shape : shapes)
    given.push_back({shape.data(), shape.size()});
  DrawloomBoundFunction *bound = nullptr;
  if (DrawloomError *error = drawloomFunctionBind(function.handle, given.data(),
                                                  given.size(), &bound))
    raise(error);
  drawloomBoundFunctionDestroy(bound);
  // They agree with each other: any of them says an extent.
  std::vector<int64_t> extents(function.openExtents, -1);
  for (size_t i = 0; i < shapes.size(); ++i)
    for (size_t dim = 0; dim < shapes[i].size(); ++dim)
      if (int64_t wanted = function.arguments[i].shape[dim]; wanted < 0) {
        OpenExtent open = OpenExtent::ofShape(wanted);
        extents[static_cast<size_t>(open.number)] = shapes[i][dim] - open.more;
      }
  return function.withExtents(extents);
}

nb::object callOnDevice(const Function &function, nb::handle arguments,
                        nb::handle out, nb::handle stream) {
  if (function.isOpen())
    return callOnDevice(*bindTo(function, arguments), arguments, out, stream);
  Call call(function);
  if (!stream.is_none()) {
    call.given = true;
    call.stream = fromDlpack(nb::cast<intptr_t>(stream));
  }
  call.findStream(arguments);
  auto sequence = nb::cast<nb::sequence>(arguments);
  nb::object first;
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    nb::object object = sequence[i];
    if (PyFloat_Check(object.ptr()) || PyLong_Check(object.ptr())) {
      call.addNumber(function, i, object);
      continue;
    }
    if (!first.is_valid() && isOnDevice(object))
      first = object;
    call.addArray(object);
  }
  nb::list results;
  const Exchange *exchange = Exchange::of(first.type());
  auto [deviceType, deviceId] = deviceOf(function);
  if (!out.is_none()) {
    nb::sequence list = PyTuple_Check(out.ptr()) || PyList_Check(out.ptr())
                            ? nb::cast<nb::sequence>(out)
                            : nb::cast<nb::sequence>(nb::make_tuple(out));
    for (nb::handle object : list) {
      results.append(object);
      call.addArray(object);
    }
  } else if (exchange) {
    for (const Type &type : function.results) {
      void *data = nullptr;
      results.append(
          exchange->make(type.element, type.shape, data, deviceType, deviceId));
      call.addMemory(type, data);
    }
  } else {
    for (const Type &type : function.results) {
      auto memory = std::make_shared<DeviceMemory>(
          function.program, static_cast<size_t>(type.bytes), call.stream);
      call.addMemory(type, memory->data);
      results.append(nb::cast(
          std::make_shared<DeviceArray>(DeviceArray{memory, type, deviceId})));
    }
  }
  call.run();
  call.orderBehind();
  if (out.is_none() && !exchange) {
    nb::object like =
        nb::module_::import_("drawloom._arrays").attr("like")(first);
    if (!like.is_none())
      for (size_t i = 0; i < function.results.size(); ++i)
        results[i] = like(results[i]);
  }
  if (function.results.size() == 1)
    return results[0];
  return nb::tuple(results);
}

nb::object callWithTensors(const Function &function, const Exchange &exchange,
                           const std::vector<nb::dlpack::dltensor> &arguments,
                           const std::vector<std::vector<int64_t>> &shapes) {
  Call call(function);
  auto [deviceType, deviceId] = deviceOf(function);
  call.library = &exchange;
  call.stream = currentStream(exchange, deviceId);
  for (size_t i = 0; i < arguments.size(); ++i) {
    void *data =
        static_cast<char *>(arguments[i].data) + arguments[i].byte_offset;
    call.addMemory(function.arguments[i], data);
  }
  nb::list results;
  for (size_t i = 0; i < function.results.size(); ++i) {
    void *data = nullptr;
    results.append(exchange.make(function.results[i].element, shapes[i], data,
                                 deviceType, deviceId));
    call.addMemory(function.results[i], data);
  }
  call.run();
  if (results.size() == 1)
    return results[0];
  return nb::tuple(results);
}

void addDevice(nb::module_ &m) {
  nb::class_<DeviceArray>(
      m, "DeviceArray",
      "A result in a GPU's memory, for libraries that take DLPack.")
      .def_prop_ro(
          "shape",
          [](const DeviceArray &self) {
            nb::list extents;
            for (int64_t extent : self.type.shape)
              extents.append(extent);
            return nb::tuple(extents);
          },
          nb::sig("def shape(self, /) -> tuple[int, ...]"), "Its extents.")
      .def_prop_ro(
          "dtype",
          [](const DeviceArray &self) {
            return elementName(self.type.element);
          },
          "Its element type's name.")
      .def(
          "__dlpack_device__",
          [](const DeviceArray &self) {
            return nb::make_tuple(dlCuda, self.device);
          },
          nb::sig("def __dlpack_device__(self, /) -> tuple[int, int]"),
          "kDLCUDA and the GPU's number.")
      .def("__dlpack__", &DeviceArray::dlpack, nb::kw_only(),
           nb::arg("stream") = nb::none(), nb::arg("max_version") = nb::none(),
           nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none(),
           "The array for another library, whose work on `stream` comes after "
           "what makes it.");
}

} // namespace drawloom::python
