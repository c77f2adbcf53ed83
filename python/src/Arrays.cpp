//===- Arrays.cpp - calls with the arrays of Python's libraries -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arrays.h"
#include "Device.h"
#include "Exchange.h"
#include "OpenMp.h"
#include "drawloom/OpenExtent.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace drawloom::python {

const char *elementName(DrawloomElement element) {
  switch (element) {
  case DRAWLOOM_F64:
    return "float64";
  case DRAWLOOM_F32:
    return "float32";
  case DRAWLOOM_BF16:
    return "bfloat16";
  case DRAWLOOM_F16:
    return "float16";
  case DRAWLOOM_I64:
    return "int64";
  case DRAWLOOM_I32:
    return "int32";
  case DRAWLOOM_I8:
    return "int8";
  case DRAWLOOM_I1:
    return "bool";
  }
  return "unknown";
}

nb::dlpack::dtype dtypeOf(DrawloomElement element) {
  using Code = nb::dlpack::dtype_code;
  auto make = [](Code code, uint8_t bits) {
    return nb::dlpack::dtype{static_cast<uint8_t>(code), bits, 1};
  };
  switch (element) {
  case DRAWLOOM_F64:
    return make(Code::Float, 64);
  case DRAWLOOM_F32:
    return make(Code::Float, 32);
  case DRAWLOOM_BF16:
    return make(Code::Bfloat, 16);
  case DRAWLOOM_F16:
    return make(Code::Float, 16);
  case DRAWLOOM_I64:
    return make(Code::Int, 64);
  case DRAWLOOM_I32:
    return make(Code::Int, 32);
  case DRAWLOOM_I8:
    return make(Code::Int, 8);
  case DRAWLOOM_I1:
    return make(Code::Bool, 8);
  }
  return {};
}

static std::string dtypeName(nb::dlpack::dtype dtype) {
  for (int i = DRAWLOOM_F64; i <= DRAWLOOM_I1; ++i)
    if (dtypeOf(static_cast<DrawloomElement>(i)) == dtype)
      return elementName(static_cast<DrawloomElement>(i));
  using Code = nb::dlpack::dtype_code;
  std::string bits = std::to_string(dtype.bits);
  switch (static_cast<Code>(dtype.code)) {
  case Code::UInt:
    return "uint" + bits;
  case Code::Complex:
    return "complex" + bits;
  case Code::Float:
    return "float" + bits;
  default:
    return "a type of " + bits + " bits";
  }
}

/// "?", or "?2" for the second one; "?2 + 1" where it is larger by that.
static std::string openName(OpenExtent open) {
  return "?" + (open.number ? std::to_string(open.number + 1) : "") +
         (open.more ? " + " + std::to_string(open.more) : "");
}

static std::string shapeText(const int64_t *extents, size_t rank) {
  std::string text = "[";
  for (size_t i = 0; i < rank; ++i)
    text += (i ? ", " : "") + (extents[i] < 0
                                   ? openName(OpenExtent::ofShape(extents[i]))
                                   : std::to_string(extents[i]));
  return text + "]";
}

static std::string describe(const Type &type) {
  return std::string(elementName(type.element)) +
         shapeText(type.shape.data(), type.shape.size());
}

/// Raises drawloom.CallError, or its subclass for wrong types.
[[noreturn]] static void refuse(const Function &function, const char *kind,
                                size_t index, const std::string &why,
                                bool type = false) {
  nb::object error =
      nb::module_::import_("drawloom._errors")
          .attr(type ? "CallTypeError" : "CallError")(
              std::string(kind) + " " + std::to_string(index) + " of @" +
              drawloomFunctionName(function.handle) + " " + why);
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())),
                  error.ptr());
  throw nb::python_error();
}

namespace {
/// What a call reads and writes, and what keeps it alive meanwhile.
struct Call {
  std::vector<DrawloomBuffer> arguments, results;
  std::vector<std::shared_ptr<void>> owners;
  /// Copies of arrays that are not dense, and scalars.
  std::vector<std::unique_ptr<char[]>> copies;
};
} // namespace

/// Copies an array with strides (in elements) to a dense one.
static void gather(const nb::dlpack::dltensor &array, char *to) {
  const char *from = static_cast<const char *>(array.data) + array.byte_offset;
  size_t bytes = array.dtype.bits / 8;
  auto step = [&](size_t d) {
    return array.strides[d] * static_cast<int64_t>(bytes);
  };
  auto rank = static_cast<size_t>(array.ndim);
  std::vector<int64_t> at(rank, 0);
  int64_t left = 1;
  for (size_t d = 0; d < rank; ++d)
    left *= array.shape[d];
  for (; left > 0; --left, to += bytes) {
    std::memcpy(to, from, bytes);
    for (size_t d = rank; d-- > 0;) {
      from += step(d);
      if (++at[d] < array.shape[d])
        break;
      from -= step(d) * at[d];
      at[d] = 0;
    }
  }
}

/// Stores an integer if it is one of type T; otherwise gives why not.
template <typename T>
static const char *storeInteger(nb::handle object, char *to) {
  if (!PyLong_Check(object.ptr()))
    return "is no integer";
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow || value < std::numeric_limits<T>::min() ||
      value > std::numeric_limits<T>::max())
    return "is outside of its range";
  auto narrow = static_cast<T>(value);
  std::memcpy(to, &narrow, sizeof(narrow));
  return nullptr;
}

/// Stores a number as the element type; gives why that cannot be.
static const char *storeNumber(nb::handle object, DrawloomElement element,
                               char *to) {
  switch (element) {
  case DRAWLOOM_F64:
  case DRAWLOOM_F32: {
    double value = PyFloat_AsDouble(object.ptr());
    if (PyErr_Occurred()) {
      PyErr_Clear();
      return "is outside of its range";
    }
    if (element == DRAWLOOM_F64) {
      std::memcpy(to, &value, sizeof(value));
    } else {
      auto single = static_cast<float>(value);
      std::memcpy(to, &single, sizeof(single));
    }
    return nullptr;
  }
  case DRAWLOOM_I64:
    return storeInteger<int64_t>(object, to);
  case DRAWLOOM_I32:
    return storeInteger<int32_t>(object, to);
  case DRAWLOOM_I8:
    return storeInteger<int8_t>(object, to);
  case DRAWLOOM_I1:
    *to = static_cast<char>(PyObject_IsTrue(object.ptr()));
    return nullptr;
  case DRAWLOOM_BF16:
  case DRAWLOOM_F16:
    break;
  }
  // Rounding to 16 bits is the array library's business.
  return "is not rounded here; give an array of rank 0";
}

/// NumPy has no bfloat16 of its own: ml_dtypes' arrays are seen through their
/// bits.
static nb::object bitsOfBfloat16(nb::handle object) {
  if (!nb::hasattr(object, "dtype") || !nb::hasattr(object, "view"))
    return nb::none();
  nb::object dtype = object.attr("dtype");
  if (nb::cast<std::string>(nb::str(dtype)) != "bfloat16")
    return nb::none();
  return object.attr("view")("int16");
}

/// An array that an object gives, which lives as long as `owner`. False where
/// it gives none. Array is that of nanobind, read-only or not.
template <typename Array>
static bool view(nb::handle object, DrawloomElement element,
                 nb::dlpack::dltensor &result, std::shared_ptr<void> &owner) {
  Array array;
  bool isBits = false;
  if (!nb::try_cast(object, array, false)) {
    PyErr_Clear();
    nb::object bits =
        element == DRAWLOOM_BF16 ? bitsOfBfloat16(object) : nb::none();
    isBits = !bits.is_none() && nb::try_cast(bits, array, false);
    PyErr_Clear();
    if (!isBits)
      return false;
  }
  result.data = const_cast<void *>(static_cast<const void *>(array.data()));
  result.device = {array.device_type(), array.device_id()};
  result.ndim = static_cast<int32_t>(array.ndim());
  result.dtype = isBits ? dtypeOf(DRAWLOOM_BF16) : array.dtype();
  result.shape = const_cast<int64_t *>(array.shape_ptr());
  result.strides = const_cast<int64_t *>(array.stride_ptr());
  result.byte_offset = 0;
  owner = std::make_shared<Array>(std::move(array));
  return true;
}

/// Why an object cannot be seen as an array, as far as it says so itself.
static std::string whyNoArray(nb::handle object) {
  std::string name =
      nb::cast<std::string>(nb::str(object.type().attr("__name__")));
  if (nb::hasattr(object, "requires_grad") &&
      nb::cast<bool>(object.attr("requires_grad")))
    return "requires a gradient, which no Drawloom function records: give "
           "x.detach(), or use drawloom.torch";
  if (nb::hasattr(object, "__dlpack__")) {
    try {
      object.attr("__dlpack__")();
    } catch (nb::python_error &error) {
      return "is a " + name +
             " that cannot be read in place: " + firstLine(error);
    }
  }
  return "is a " + name +
         ", which is no array of numbers (buffer protocol or DLPack)";
}

/// Whether an array has the shape of a type. An open extent is what the first
/// array says that has it; later ones have to agree with that.
static bool fits(const Type &type, const nb::dlpack::dltensor &array,
                 std::vector<int64_t> &extents) {
  if (static_cast<size_t>(array.ndim) != type.shape.size())
    return false;
  for (size_t d = 0; d < type.shape.size(); ++d) {
    int64_t wanted = type.shape[d];
    if (wanted < 0) {
      OpenExtent open = OpenExtent::ofShape(wanted);
      int64_t &known = extents[static_cast<size_t>(open.number)];
      if (known < 0)
        known = array.shape[d] - open.more;
      // What is larger by a constant has no less than that.
      if (known < 0)
        return false;
      wanted = known + open.more;
    }
    if (array.shape[d] != wanted)
      return false;
  }
  return true;
}

static void checkArray(const Function &function, const char *kind, size_t index,
                       const Type &type, const nb::dlpack::dltensor &array,
                       std::vector<int64_t> &extents) {
  if (array.device.device_type != nb::device::cpu::value)
    refuse(function, kind, index,
           "is not in this machine's main memory; x.cpu() brings it there");
  bool shape = fits(type, array, extents);
  if (shape && array.dtype == dtypeOf(type.element))
    return;
  std::string wanted = describe(type), with;
  for (size_t i = 0; i < extents.size(); ++i)
    if (extents[i] >= 0)
      with += (with.empty() ? ", where " : " and ") +
              openName({static_cast<int64_t>(i)}) + " is " +
              std::to_string(extents[i]);
  refuse(function, kind, index,
         "takes " + wanted + with + ", but is " + dtypeName(array.dtype) +
             shapeText(array.shape, static_cast<size_t>(array.ndim)),
         shape);
}

static bool wantsGradient(nb::handle object) {
  static PyObject *name = PyUnicode_InternFromString("requires_grad");
  PyObject *value = PyObject_GetAttr(object.ptr(), name);
  if (!value) {
    PyErr_Clear();
    return false;
  }
  Py_DECREF(value);
  return value == Py_True;
}

void storeArgument(const Function &function, size_t index, nb::handle number,
                   char *to) {
  DrawloomElement element = function.arguments[index].element;
  if (const char *why = storeNumber(number, element, to))
    refuse(function, "argument", index,
           std::string("takes ") + elementName(element) + ": " +
               nb::cast<std::string>(nb::repr(number)) + " " + why,
           /*type=*/PyFloat_Check(number.ptr()));
}

static void addArgument(Call &call, const Function &function, size_t index,
                        nb::handle object, std::vector<int64_t> &extents) {
  const Type &type = function.arguments[index];
  if (type.shape.empty() &&
      (PyFloat_Check(object.ptr()) || PyLong_Check(object.ptr()))) {
    auto scalar = std::make_unique<char[]>(8);
    storeArgument(function, index, object, scalar.get());
    call.arguments.push_back({scalar.get(), static_cast<size_t>(type.bytes)});
    call.copies.push_back(std::move(scalar));
    return;
  }
  nb::dlpack::dltensor array = {};
  std::shared_ptr<void> owner;
  if (const Exchange *exchange = Exchange::of(object.type())) {
    if (wantsGradient(object))
      refuse(function, "argument", index, whyNoArray(object), /*type=*/true);
    nb::object settled;
    readTensor(
        *exchange, object,
        [&] {
          return "argument " + std::to_string(index) + " of @" +
                 drawloomFunctionName(function.handle);
        },
        array, settled);
    if (settled.is_valid())
      owner = std::make_shared<nb::object>(std::move(settled));
  } else if (typeName(object) == "MaskedArray") {
    refuse(function, "argument", index,
           "is a MaskedArray, whose mask would be lost; x.filled(value) is an "
           "array",
           /*type=*/true);
  } else if (!view<nb::ndarray<nb::ro>>(object, type.element, array, owner)) {
    refuse(function, "argument", index, whyNoArray(object), /*type=*/true);
  }
  checkArray(function, "argument", index, type, array, extents);
  size_t bytes = array.dtype.bits / 8;
  for (int32_t d = 0; d < array.ndim; ++d)
    bytes *= static_cast<size_t>(array.shape[d]);
  if (isDense(array)) {
    call.arguments.push_back(
        {static_cast<char *>(array.data) + array.byte_offset, bytes});
  } else {
    auto dense = std::make_unique<char[]>(bytes);
    gather(array, dense.get());
    call.arguments.push_back({dense.get(), bytes});
    call.copies.push_back(std::move(dense));
  }
  call.owners.push_back(std::move(owner));
}

static void addResult(Call &call, const Function &function, size_t index,
                      nb::handle object) {
  const Type &type = function.results[index];
  nb::dlpack::dltensor array = {};
  std::shared_ptr<void> owner;
  bool isArray = false;
  if (const Exchange *exchange = Exchange::of(object.type())) {
    isArray = !wantsGradient(object) && !isNegated(object) &&
              !exchange->read(object.ptr(), &array);
    PyErr_Clear();
  } else {
    // JAX lets its arrays be read in place, and does not say that they are
    // never to be written.
    nb::object library = nb::getattr(object.type(), "__module__", nb::str(""));
    if (nb::cast<std::string>(nb::str(library)).rfind("jax", 0) == 0)
      refuse(function, "result", index,
             "cannot be written to an array of JAX: these never change",
             /*type=*/true);
    isArray = view<nb::ndarray<>>(object, type.element, array, owner);
  }
  if (!isArray)
    refuse(function, "result", index,
           "cannot be written to the object given: it is no array, is "
           "read-only, or requires a gradient",
           /*type=*/true);
  std::vector<int64_t> none;
  checkArray(function, "result", index, type, array, none);
  if (!isDense(array))
    refuse(function, "result", index,
           "must be dense and row-major; the array given has other strides");
  call.results.push_back({static_cast<char *>(array.data) + array.byte_offset,
                          static_cast<size_t>(type.bytes)});
}

static void run(const Function &function, const Call &call, unsigned threads) {
  DrawloomError *error = nullptr;
  {
    Unlocked unlocked;
    OpenMpThreads openMp;
    error = drawloomCall(function.handle, call.arguments.data(),
                         call.arguments.size(), call.results.data(),
                         call.results.size(), threads);
  }
  if (error)
    raise(error);
}

static void checkCount(const Function &function, size_t count) {
  if (count != function.arguments.size()) {
    std::string takes;
    for (const Type &type : function.arguments)
      takes += (takes.empty() ? "" : ", ") + describe(type);
    nb::object error =
        nb::module_::import_("drawloom._errors")
            .attr("CallTypeError")(
                std::string("@") + drawloomFunctionName(function.handle) +
                " takes " + std::to_string(function.arguments.size()) +
                " arguments (" + takes + "), but " + std::to_string(count) +
                " are given");
    PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())),
                    error.ptr());
    throw nb::python_error();
  }
}

ArgumentBuffers readArguments(const Function &function, nb::handle arguments) {
  auto call = std::make_shared<Call>();
  nb::sequence given = nb::cast<nb::sequence>(arguments);
  size_t count = nb::len(given);
  checkCount(function, count);
  std::vector<int64_t> extents(function.openExtents, -1);
  for (size_t i = 0; i < count; ++i)
    addArgument(*call, function, i, given[i], extents);
  return {call->arguments, call};
}

/// Makes results, runs, and hands them over. `kind` is the type of the first
/// array among the arguments.
static nb::object finishCall(const Function &function, Call &call,
                             nb::handle kind, nb::handle out,
                             unsigned threads) {
  nb::list results;
  nb::object finish = nb::none();
  const Exchange *exchange = kind.is_none() ? nullptr : Exchange::of(kind);
  if (!out.is_none()) {
    nb::sequence list = PyTuple_Check(out.ptr()) || PyList_Check(out.ptr())
                            ? nb::cast<nb::sequence>(out)
                            : nb::cast<nb::sequence>(nb::make_tuple(out));
    for (nb::handle object : list)
      results.append(object);
    if (nb::len(results) != function.results.size())
      refuse(function, "the list 'out'", nb::len(results),
             "has another length than the function has results, " +
                 std::to_string(function.results.size()),
             /*type=*/true);
  } else if (exchange) {
    for (const Type &type : function.results) {
      void *data = nullptr;
      results.append(exchange->make(type.element, type.shape, data));
      call.results.push_back({data, static_cast<size_t>(type.bytes)});
    }
  } else {
    // Of one kind of arrays: what makes one, and what it is given.
    nb::object maker = function.maker(kind);
    finish = maker[2];
    for (nb::handle shapeAndType : maker[1])
      results.append(maker[0](*shapeAndType));
  }
  for (size_t i = call.results.size(); i < function.results.size(); ++i)
    addResult(call, function, i, results[i]);
  run(function, call, threads);
  if (!finish.is_none())
    for (size_t i = 0; i < function.results.size(); ++i)
      results[i] = finish(results[i]);
  if (function.results.size() == 1)
    return results[0];
  return nb::tuple(results);
}

nb::object callWithArrays(const Function &function, nb::handle arguments,
                          nb::handle out, unsigned threads, nb::handle stream) {
  Call call;
  nb::sequence given = nb::cast<nb::sequence>(arguments);
  size_t count = nb::len(given);
  checkCount(function, count);
  if (isCallOnDevice(function, arguments))
    return callOnDevice(function, arguments, out, stream);
  nb::object kind = nb::none();
  std::vector<int64_t> extents(function.openExtents, -1);
  for (size_t i = 0; i < count; ++i) {
    nb::object object = given[i];
    addArgument(call, function, i, object, extents);
    if (kind.is_none() && !PyFloat_Check(object.ptr()) &&
        !PyLong_Check(object.ptr()))
      kind = nb::borrow(object.type());
  }
  if (function.isOpen()) {
    // Another call may come between, and forget it.
    std::shared_ptr<Function> bound = function.withExtents(extents);
    return finishCall(*bound, call, kind, out, threads);
  }
  return finishCall(function, call, kind, out, threads);
}

void callWithPointers(const Function &function,
                      const std::vector<uintptr_t> &arguments,
                      const std::vector<uintptr_t> &results, unsigned threads) {
  Call call;
  auto add = [](std::vector<DrawloomBuffer> &buffers,
                const std::vector<uintptr_t> &addresses,
                const std::vector<Type> &types) {
    for (size_t i = 0; i < addresses.size(); ++i)
      buffers.push_back(
          {reinterpret_cast<void *>(addresses[i]),
           i < types.size() ? static_cast<size_t>(types[i].bytes) : 0});
  };
  add(call.arguments, arguments, function.arguments);
  add(call.results, results, function.results);
  run(function, call, threads);
}

} // namespace drawloom::python
