//===- Exchange.cpp - tensors through DLPack's C functions ----------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exchange.h"
#include "Arrays.h"
#include "Device.h"
#include "OpenMp.h"
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

bool isNegated(nb::handle tensor) {
  // Methods by type, null where it is none of torch's: looking a method up by
  // its name takes longer than the call.
  static std::unordered_map<PyTypeObject *, PyObject *> known;
  PyTypeObject *type = Py_TYPE(tensor.ptr());
  auto [it, isNew] = known.try_emplace(type, nullptr);
  if (isNew) {
    Py_INCREF(type);
    it->second =
        PyObject_GetAttrString(reinterpret_cast<PyObject *>(type), "is_neg");
  }
  PyObject *self = tensor.ptr(), *value = nullptr;
  if (it->second)
    value = nb::detail::vectorcall(it->second, &self, 1, nullptr);
  if (!value) {
    PyErr_Clear(); // Not a tensor of torch.
    return false;
  }
  Py_DECREF(value);
  return value == Py_True;
}

std::string firstLine(nb::python_error &error) {
  if (!error.matches(PyExc_Exception))
    throw error;
  std::string text =
      nb::cast<std::string>(nb::str(error.type().attr("__name__"))) + ": " +
      nb::cast<std::string>(nb::str(error.value()));
  return text.substr(0, text.find('\n'));
}

[[noreturn]] static void refuse(const char *type, const std::string &message) {
  nb::object error =
      nb::module_::import_("drawloom._errors").attr(type)(message);
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())),
                  error.ptr());
  throw nb::python_error();
}

[[noreturn]] static void refuseUnreadable(nb::handle tensor,
                                          const std::string &what) {
  nb::python_error error;
  if (nb::cast<bool>(nb::getattr(tensor, "is_meta", nb::bool_(false))))
    refuse("CallTypeError",
           what + " is on the device meta, which keeps no numbers; "
                  "torch.empty_like(x, device='cpu') has memory for them");
  std::string layout = nb::cast<std::string>(
      nb::str(nb::getattr(tensor, "layout", nb::str("torch.strided"))));
  refuse("CallTypeError",
         what + (layout == "torch.strided"
                     ? " cannot be read in place: " + firstLine(error)
                     : " has the layout " + layout +
                           "; x.to_dense() makes it an array"));
}

void readTensor(const Exchange &exchange, nb::handle tensor,
                const std::function<std::string()> &what,
                nb::dlpack::dltensor &view, nb::object &owner) {
  if (isNegated(tensor)) {
    owner = tensor.attr("resolve_neg")();
    tensor = owner;
  }
  if (exchange.read(tensor.ptr(), &view))
    refuseUnreadable(tensor, what());
  if (view.data || view.device.device_type != nb::device::cpu::value)
    return;
  for (int32_t d = 0; d < view.ndim; ++d)
    if (view.shape[d] == 0)
      return;
  owner = tensor.attr("clone")();
  if (exchange.read(owner.ptr(), &view))
    refuseUnreadable(tensor, what());
}

Exchange::Managed *Exchange::makeManaged(nb::dlpack::dtype dtype,
                                         const int64_t *shape, size_t rank,
                                         std::string &why, int32_t deviceType,
                                         int32_t deviceId) const {
  nb::dlpack::dltensor prototype = {};
  prototype.device = {deviceType, deviceId};
  prototype.ndim = static_cast<int32_t>(rank);
  prototype.dtype = dtype;
  prototype.shape = const_cast<int64_t *>(shape);
  Managed *managed = nullptr;
  if (!allocate(&prototype, &managed, &why,
                [](void *context, const char *, const char *message) {
                  *static_cast<std::string *>(context) = message;
                }))
    return managed;
  if (why.empty())
    why = "the library that makes it does not say why";
  return nullptr;
}

nb::object Exchange::make(DrawloomElement element,
                          const std::vector<int64_t> &shape, void *&data,
                          int32_t deviceType, int32_t deviceId) const {
  std::string why;
  Managed *managed = makeManaged(dtypeOf(element), shape.data(), shape.size(),
                                 why, deviceType, deviceId);
  if (!managed) {
    why = "a result cannot be made: " + why;
    if (deviceType != nb::device::cpu::value)
      raiseOutOfDeviceMemory(why);
    PyErr_SetString(PyExc_MemoryError, why.c_str());
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
  /// Kept, so that no other object comes to have its identity.
  nb::object spec;
  std::shared_ptr<Function> function;
  /// As the framework sees them: the function's rows may be several dimensions.
  std::vector<std::vector<int64_t>> shapes;
  /// It takes no longer than to hand over the interpreter's lock.
  bool isSmall = false;
};
} // namespace

namespace {
/// What a call reads: tensors as they are, or dense copies of them, and a key
/// that is the same for calls of the same program.
struct Inputs {
  Inputs() {
    // Few calls have more; what grows would be copied several times.
    views.reserve(8);
    key.reserve(256);
  }

  void add(nb::handle tensor);

  std::vector<nb::dlpack::dltensor> views;
  /// Those that had to be made dense.
  std::vector<nb::object> owners;
  std::string key;
  const Exchange *exchange = nullptr;

  bool onDevice() const {
    return !views.empty() &&
           views.front().device.device_type != nb::device::cpu::value;
  }
};
} // namespace

static std::string deviceName(nb::handle tensor) {
  nb::object device = tensor.attr("device");
  return "'" + nb::cast<std::string>(nb::str(device)) + "'";
}

void Inputs::add(nb::handle tensor) {
  exchange = Exchange::of(tensor.type());
  if (!exchange)
    refuse("CallTypeError", std::string("argument ") +
                                std::to_string(views.size()) + " is a " +
                                typeName(tensor) + ", not a tensor");
  nb::dlpack::dltensor &view = views.emplace_back();
  nb::object owner;
  readTensor(
      *exchange, tensor,
      [&] { return "tensor " + std::to_string(views.size() - 1); }, view,
      owner);
  if (view.device.device_type != nb::device::cpu::value &&
      view.device.device_type != nb::device::cuda::value)
    refuse("CallError", "tensor " + std::to_string(views.size() - 1) +
                            " is on the device " + deviceName(tensor) +
                            ": these ops run on the CPU and on NVIDIA's GPUs; "
                            "x.cpu() brings it there");
  const nb::dlpack::device &first = views.front().device;
  if (view.device.device_type != first.device_type ||
      view.device.device_id != first.device_id)
    refuse("CallError",
           "tensor " + std::to_string(views.size() - 1) + " is on the device " +
               deviceName(tensor) + ", and tensor 0 on " +
               (first.device_type == nb::device::cpu::value
                    ? "the CPU"
                    : "'cuda:" + std::to_string(first.device_id) + "'") +
               ": an op takes tensors of one device, to which x.to(device) "
               "brings them");
  if (!isDense(view)) {
    owner = (owner.is_valid() ? owner : tensor).attr("contiguous")();
    if (exchange->read(owner.ptr(), &view))
      throw nb::python_error();
  }
  if (owner.is_valid())
    owners.push_back(std::move(owner));
  key.append(reinterpret_cast<const char *>(&view.device), sizeof(view.device));
  key.append(reinterpret_cast<const char *>(&view.dtype), sizeof(view.dtype));
  key.append(reinterpret_cast<const char *>(&view.ndim), sizeof(view.ndim));
  key.append(reinterpret_cast<const char *>(view.shape),
             sizeof(int64_t) * static_cast<size_t>(view.ndim));
}

/// Programs by their key. Entries stay where they are.
static std::unordered_map<std::string, Resolved> &known() {
  static auto &programs = *new std::unordered_map<std::string, Resolved>;
  return programs;
}

static const Resolved &resolveNow(nb::handle spec, nb::handle resolve,
                                  Inputs &inputs) {
  nb::list types;
  for (const nb::dlpack::dltensor &view : inputs.views) {
    nb::list shape;
    for (int32_t d = 0; d < view.ndim; ++d)
      shape.append(view.shape[d]);
    DrawloomElement element;
    types.append(nb::make_tuple(elementOf(view.dtype, element)
                                    ? elementName(element)
                                    : "of an element type without a name here",
                                nb::tuple(shape)));
  }
  std::string target = "cpu";
  if (inputs.onDevice())
    target = "cuda:" + std::to_string(inputs.views.front().device.device_id);
  nb::object pair =
      callPython(resolve, {spec, nb::tuple(types), nb::str(target.c_str())});
  Resolved resolved;
  resolved.spec = nb::borrow(spec);
  resolved.function = nb::cast<std::shared_ptr<Function>>(pair[0]);
  for (nb::handle shape : pair[1]) {
    std::vector<int64_t> &extents = resolved.shapes.emplace_back();
    for (nb::handle extent : shape)
      extents.push_back(nb::cast<int64_t>(extent));
  }
  int64_t bytes = 0;
  for (const std::vector<Type> *types :
       {&resolved.function->arguments, &resolved.function->results})
    for (const Type &type : *types)
      bytes += type.bytes;
  resolved.isSmall = bytes <= 4096;
  // While Python ran, another thread may have been here.
  return known()
      .try_emplace(std::move(inputs.key), std::move(resolved))
      .first->second;
}

/// `threads` is asked for their number, unless one does.
template <typename Threads>
static nb::object compute(const Resolved &resolved, const Inputs &inputs,
                          Threads threads) {
  const Function &function = *resolved.function;
  if (inputs.onDevice())
    return callWithTensors(function, *inputs.exchange, inputs.views,
                           resolved.shapes);
  size_t count = inputs.views.size();
  std::vector<DrawloomBuffer> arguments(count),
      results(function.results.size());
  for (size_t i = 0; i < count; ++i)
    arguments[i] = {static_cast<char *>(inputs.views[i].data) +
                        inputs.views[i].byte_offset,
                    static_cast<size_t>(function.arguments[i].bytes)};
  nb::object made;
  if (results.size() != 1)
    made = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(results.size())));
  for (size_t i = 0; i < results.size(); ++i) {
    const Type &type = function.results[i];
    nb::object result = inputs.exchange->make(type.element, resolved.shapes[i],
                                              results[i].data);
    results[i].bytes = static_cast<size_t>(type.bytes);
    if (results.size() == 1)
      made = std::move(result);
    else
      PyTuple_SetItem(made.ptr(), static_cast<Py_ssize_t>(i),
                      result.release().ptr());
  }
  DrawloomError *error = nullptr;
  auto call = [&](unsigned threads) {
    error = drawloomCall(function.handle, arguments.data(), count,
                         results.data(), results.size(), threads);
  };
  if (resolved.isSmall) {
    call(1);
  } else {
    unsigned count = threads();
    Unlocked unlocked;
    OpenMpThreads openMp;
    call(count);
  }
  if (error)
    raise(error);
  return made;
}

nb::object runSpec(nb::handle spec, nb::tuple tensors, unsigned threads,
                   nb::handle resolve) {
  Inputs inputs;
  inputs.key.assign(reinterpret_cast<const char *>(&spec), sizeof(spec));
  for (nb::handle tensor : tensors)
    inputs.add(tensor);
  auto it = known().find(inputs.key);
  return compute(it != known().end() ? it->second
                                     : resolveNow(spec, resolve, inputs),
                 inputs, [&] { return threads; });
}

Kernel::Way Kernel::wayOf(nb::handle argument, bool gradients) const {
  PyTypeObject *type = Py_TYPE(argument.ptr());
  if (reinterpret_cast<PyObject *>(type) == plainType.ptr() ||
      reinterpret_cast<PyObject *>(type) == parameterType.ptr()) {
    if (!gradients)
      return Way::Compute;
    // The descriptor itself: looking it up by its name takes longer than all
    // else that is asked of a tensor.
    auto get = reinterpret_cast<descrgetfunc>(
        PyType_GetSlot(Py_TYPE(requiresGrad.ptr()), Py_tp_descr_get));
    PyObject *value = get(requiresGrad.ptr(), argument.ptr(),
                          reinterpret_cast<PyObject *>(type));
    if (!value)
      throw nb::python_error();
    Py_DECREF(value);
    return value == Py_False ? Way::Compute : Way::Record;
  }
  if (type == &PyUnicode_Type || type == &PyLong_Type ||
      type == &PyFloat_Type || type == &PyBool_Type || argument.is_none())
    return Way::Compute;
  Way way = Way::Compute;
  if (type != &PyList_Type && type != &PyTuple_Type)
    return Way::Dispatch;
  for (nb::handle item : nb::cast<nb::sequence>(argument))
    way = std::max(way, wayOf(item, gradients));
  return way;
}

bool Kernel::isForwardMode() const {
  static PyObject *name = PyUnicode_InternFromString("_current_level");
  PyObject *level = PyObject_GetAttr(forwardMode.ptr(), name);
  if (!level)
    throw nb::python_error();
  bool isActive = PyLong_AsLong(level) >= 0;
  Py_DECREF(level);
  return isActive;
}

/// Whether one of the arguments is a tensor without memory, of the device
/// "meta".
static bool haveNoMemory(nb::handle arguments) {
  for (nb::handle argument : nb::cast<nb::sequence>(arguments))
    if (PyList_Check(argument.ptr()) || PyTuple_Check(argument.ptr())
            ? haveNoMemory(argument)
            : nb::getattr(argument, "is_meta", nb::bool_(false)).ptr() ==
                  Py_True)
      return true;
  return false;
}

nb::object Kernel::call(nb::tuple arguments) const {
  if (PyLong_AsLong(modes().ptr()) != 0 || !transforms().is_none() ||
      isForwardMode())
    return dispatch(*arguments);
  bool gradients = gradEnabled().ptr() == Py_True;
  Way way = Way::Compute;
  for (nb::handle argument : arguments)
    way = std::max(way, wayOf(argument, gradients));
  if (way != Way::Compute)
    return (way == Way::Record ? record : dispatch)(*arguments);
  try {
    return compute(arguments);
  } catch (nb::python_error &) {
    if (!haveNoMemory(arguments))
      throw;
  }
  return dispatch(*arguments);
}

nb::object Kernel::compute(nb::tuple arguments) const {
  Inputs inputs;
  auto identity = reinterpret_cast<uintptr_t>(this);
  inputs.key.assign(reinterpret_cast<const char *>(&identity),
                    sizeof(identity));
  for (nb::handle argument : arguments) {
    if (PyList_Check(argument.ptr()) || PyTuple_Check(argument.ptr())) {
      auto list = nb::cast<nb::sequence>(argument);
      inputs.key += "[" + std::to_string(nb::len(list)) + "]";
      for (nb::handle tensor : list)
        inputs.add(tensor);
    } else if (PyUnicode_Check(argument.ptr())) {
      // Not to be taken for a number or None of the same look, nor for more
      // arguments than one.
      Py_ssize_t size = 0;
      const char *text = PyUnicode_AsUTF8AndSize(argument.ptr(), &size);
      if (!text)
        throw nb::python_error();
      inputs.key += "\"" + std::to_string(size) + ":";
      inputs.key.append(text, size);
    } else if (PyLong_Check(argument.ptr()) || PyFloat_Check(argument.ptr()) ||
               argument.is_none()) {
      // True and False are integers.
      inputs.key += nb::cast<std::string>(nb::repr(argument)) + "\n";
    } else {
      inputs.add(argument);
    }
  }
  auto it = known().find(inputs.key);
  return python::compute(it != known().end()
                             ? it->second
                             : resolveNow(specOf(*arguments), resolve, inputs),
                         inputs, [&] { return nb::cast<unsigned>(threads()); });
}

PyObject *callKernel(PyObject *self, PyObject *arguments, PyObject *) {
  try {
    return nb::inst_ptr<Kernel>(self)
        ->call(nb::borrow<nb::tuple>(arguments))
        .release()
        .ptr();
  } catch (nb::python_error &error) {
    error.restore();
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

} // namespace drawloom::python
