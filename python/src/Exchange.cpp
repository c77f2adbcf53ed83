//===- Exchange.cpp - tensors through DLPack's C functions ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exchange.h"
#include "Arrays.h"
#include <cstring>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <unordered_map>

namespace nb = nanobind;

namespace drawloom::python {

const Exchange *Exchange::of(nb::handle type) {
  // Types live as long as the process for all that matters here, and so does
  // what is known of them; the interpreter's lock is held.
  static std::unordered_map<PyObject *, const Exchange *> known;
  auto [it, isNew] = known.try_emplace(type.ptr(), nullptr);
  if (!isNew)
    return it->second;
  nb::object capsule =
      nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
  if (!PyCapsule_CheckExact(capsule.ptr()))
    return nullptr;
  auto *header = static_cast<Header *>(
      PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  PyErr_Clear();
  while (header && header->version.major != 1)
    header = header->previous;
  auto *table = reinterpret_cast<const Exchange *>(header);
  if (!table || !table->read)
    return nullptr;
  type.inc_ref();
  return known[type.ptr()] = table;
}

bool elementOf(nb::dlpack::dtype dtype, DrawloomElement &element) {
  for (int i = DRAWLOOM_F64; i <= DRAWLOOM_I1; ++i) {
    element = static_cast<DrawloomElement>(i);
    if (dtypeOf(element) == dtype)
      return true;
  }
  return false;
}

bool isDense(const nb::dlpack::dltensor &tensor) {
  if (!tensor.strides)
    return true;
  int64_t stride = 1;
  bool dense = true;
  for (int32_t d = tensor.ndim; d-- > 0;) {
    if (tensor.shape[d] == 0)
      return true;
    if (tensor.shape[d] != 1 && tensor.strides[d] != stride)
      dense = false;
    stride *= tensor.shape[d];
  }
  return dense;
}

nb::object Exchange::make(DrawloomElement element,
                          const std::vector<int64_t> &shape,
                          void *&data) const {
  nb::dlpack::dltensor prototype = {};
  prototype.device.device_type = nb::device::cpu::value;
  prototype.ndim = static_cast<int32_t>(shape.size());
  prototype.dtype = dtypeOf(element);
  prototype.shape = const_cast<int64_t *>(shape.data());
  Managed *managed = nullptr;
  std::string why;
  if (allocate(&prototype, &managed, &why,
               [](void *context, const char *, const char *message) {
                 *static_cast<std::string *>(context) = message;
               })) {
    PyErr_SetString(PyExc_MemoryError,
                    ("a result cannot be made: " + why).c_str());
    throw nb::python_error();
  }
  data =
      static_cast<char *>(managed->tensor.data) + managed->tensor.byte_offset;
  void *object = nullptr;
  if (fromManaged(managed, &object))
    throw nb::python_error();
  return nb::steal(static_cast<PyObject *>(object));
}

namespace {
/// A spec compiled for types of arguments.
struct Resolved {
  /// Keeps the object from being made again elsewhere with another meaning.
  nb::object spec;
  std::shared_ptr<Function> function;
  /// As the framework sees them: the function's rows may be several dimensions.
  std::vector<std::vector<int64_t>> shapes;
};
} // namespace

static const char *libraryOf(nb::handle tensor) {
  return Py_TYPE(tensor.ptr())->tp_name;
}

/// The types whose objects are tensors and nothing else.
static nb::object &plainTypes() {
  static auto &types = *new nb::object(nb::none());
  return types;
}

void setPlainTypes(nb::handle types) { plainTypes() = nb::borrow(types); }

nb::object runSpecIfPlain(nb::handle spec, nb::tuple tensors, unsigned threads,
                          nb::handle resolve) {
  for (nb::handle tensor : tensors)
    if (PySequence_Contains(
            plainTypes().ptr(),
            reinterpret_cast<PyObject *>(Py_TYPE(tensor.ptr()))) != 1)
      return nb::none();
  return runSpec(spec, std::move(tensors), threads, resolve);
}

nb::object runSpec(nb::handle spec, nb::tuple tensors, unsigned threads,
                   nb::handle resolve) {
  size_t count = tensors.size();
  std::vector<nb::dlpack::dltensor> views(count);
  // Those that had to be made dense.
  std::vector<nb::object> owners;
  std::string key(reinterpret_cast<const char *>(&spec), sizeof(spec));
  const Exchange *exchange = nullptr;
  for (size_t i = 0; i < count; ++i) {
    nb::handle tensor = tensors[i];
    nb::dlpack::dltensor &view = views[i];
    exchange = Exchange::of(tensor.type());
    if (!exchange)
      throw nb::type_error(
          (std::string("no tensor: ") + libraryOf(tensor)).c_str());
    if (exchange->read(tensor.ptr(), &view))
      throw nb::python_error();
    if (!isDense(view)) {
      owners.push_back(tensor.attr("contiguous")());
      if (exchange->read(owners.back().ptr(), &view))
        throw nb::python_error();
    }
    if (view.device.device_type != nb::device::cpu::value) {
      nb::object error =
          nb::module_::import_("drawloom._errors")
              .attr("CallError")(
                  std::string("tensor ") + std::to_string(i) +
                  " is on the device '" +
                  nb::cast<std::string>(nb::str(tensor.attr("device"))) +
                  "': these ops run on the CPU; x.cpu() brings it there");
      PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())),
                      error.ptr());
      throw nb::python_error();
    }
    key.append(reinterpret_cast<const char *>(&view.dtype), sizeof(view.dtype));
    key.append(reinterpret_cast<const char *>(&view.ndim), sizeof(view.ndim));
    key.append(reinterpret_cast<const char *>(view.shape),
               sizeof(int64_t) * static_cast<size_t>(view.ndim));
  }

  static auto &known = *new std::unordered_map<std::string, Resolved>;
  auto it = known.find(key);
  if (it == known.end()) {
    nb::list types;
    for (const nb::dlpack::dltensor &view : views) {
      nb::list shape;
      for (int32_t d = 0; d < view.ndim; ++d)
        shape.append(view.shape[d]);
      DrawloomElement element;
      types.append(nb::make_tuple(elementOf(view.dtype, element)
                                      ? elementName(element)
                                      : "an unknown type",
                                  nb::tuple(shape)));
    }
    nb::object pair = resolve(spec, nb::tuple(types));
    Resolved resolved;
    resolved.spec = nb::borrow(spec);
    resolved.function = nb::cast<std::shared_ptr<Function>>(pair[0]);
    for (nb::handle shape : pair[1]) {
      std::vector<int64_t> &extents = resolved.shapes.emplace_back();
      for (nb::handle extent : shape)
        extents.push_back(nb::cast<int64_t>(extent));
    }
    // While Python ran, another thread may have been here.
    it = known.try_emplace(std::move(key), std::move(resolved)).first;
  }
  const Resolved &resolved = it->second;
  const Function &function = *resolved.function;

  std::vector<DrawloomBuffer> arguments(count),
      results(function.results.size());
  for (size_t i = 0; i < count; ++i)
    arguments[i] = {static_cast<char *>(views[i].data) + views[i].byte_offset,
                    static_cast<size_t>(function.arguments[i].bytes)};
  nb::object made[1];
  nb::list more;
  bool one = results.size() == 1;
  for (size_t i = 0; i < results.size(); ++i) {
    const Type &type = function.results[i];
    nb::object result =
        exchange->make(type.element, resolved.shapes[i], results[i].data);
    results[i].bytes = static_cast<size_t>(type.bytes);
    if (one)
      made[0] = std::move(result);
    else
      more.append(result);
  }
  DrawloomError *error = nullptr;
  {
    nb::gil_scoped_release release;
    error = drawloomCall(function.handle, arguments.data(), count,
                         results.data(), results.size(), threads);
  }
  if (error)
    raise(error);
  if (one)
    return made[0];
  return nb::tuple(more);
}

} // namespace drawloom::python
