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
#include <algorithm>
#include <cstring>
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

static std::string shapeText(const int64_t *extents, size_t rank) {
  std::string text = "[";
  for (size_t i = 0; i < rank; ++i)
    text += (i ? ", " : "") + std::to_string(extents[i]);
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

bool storeNumber(nb::handle object, DrawloomElement element, char *to) {
  bool number = PyFloat_Check(object.ptr()) || PyLong_Check(object.ptr());
  if (!number)
    return false;
  auto put = [&](auto value) { std::memcpy(to, &value, sizeof(value)); };
  switch (element) {
  case DRAWLOOM_F64:
    put(nb::cast<double>(object));
    return true;
  case DRAWLOOM_F32:
    put(static_cast<float>(nb::cast<double>(object)));
    return true;
  case DRAWLOOM_I64:
    put(nb::cast<int64_t>(object));
    return true;
  case DRAWLOOM_I32:
    put(nb::cast<int32_t>(object));
    return true;
  case DRAWLOOM_I8:
    put(nb::cast<int8_t>(object));
    return true;
  case DRAWLOOM_I1:
    put(static_cast<int8_t>(PyObject_IsTrue(object.ptr())));
    return true;
  default:
    // Rounding to 16 bits is the array library's business.
    return false;
  }
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
      return "is a " + name + " that cannot be read in place: " + error.what();
    }
  }
  return "is a " + name +
         ", which is no array of numbers (buffer protocol or DLPack)";
}

static void checkArray(const Function &function, const char *kind, size_t index,
                       const Type &type, const nb::dlpack::dltensor &array) {
  if (array.device.device_type != nb::device::cpu::value)
    refuse(function, kind, index,
           "is not in this machine's main memory; x.cpu() brings it there");
  auto rank = static_cast<size_t>(array.ndim);
  bool shape = rank == type.shape.size() &&
               std::equal(type.shape.begin(), type.shape.end(), array.shape);
  if (shape && array.dtype == dtypeOf(type.element))
    return;
  refuse(function, kind, index,
         "takes " + describe(type) + ", but is " + dtypeName(array.dtype) +
             shapeText(array.shape, rank),
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

static void addArgument(Call &call, const Function &function, size_t index,
                        nb::handle object) {
  const Type &type = function.arguments[index];
  if (type.shape.empty()) {
    auto scalar = std::make_unique<char[]>(8);
    if (storeNumber(object, type.element, scalar.get())) {
      call.arguments.push_back({scalar.get(), static_cast<size_t>(type.bytes)});
      call.copies.push_back(std::move(scalar));
      return;
    }
  }
  nb::dlpack::dltensor array = {};
  std::shared_ptr<void> owner;
  if (const Exchange *exchange = Exchange::of(object.type())) {
    if (wantsGradient(object))
      refuse(function, "argument", index, whyNoArray(object), /*type=*/true);
    if (exchange->read(object.ptr(), &array)) {
      PyErr_Clear();
      refuse(function, "argument", index, whyNoArray(object), /*type=*/true);
    }
  } else if (!view<nb::ndarray<nb::ro>>(object, type.element, array, owner)) {
    refuse(function, "argument", index, whyNoArray(object), /*type=*/true);
  }
  checkArray(function, "argument", index, type, array);
  auto bytes = static_cast<size_t>(type.bytes);
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
    isArray = !wantsGradient(object) && !exchange->read(object.ptr(), &array);
    PyErr_Clear();
  } else {
    isArray = view<nb::ndarray<>>(object, type.element, array, owner);
  }
  if (!isArray)
    refuse(function, "result", index,
           "cannot be written to the object given: it is no array, is "
           "read-only, or requires a gradient",
           /*type=*/true);
  checkArray(function, "result", index, type, array);
  if (!isDense(array))
    refuse(function, "result", index,
           "must be dense and row-major; the array given has other strides");
  call.results.push_back({static_cast<char *>(array.data) + array.byte_offset,
                          static_cast<size_t>(type.bytes)});
}

static void run(const Function &function, const Call &call, unsigned threads) {
  DrawloomError *error = nullptr;
  {
    nb::gil_scoped_release release;
    error = drawloomCall(function.handle, call.arguments.data(),
                         call.arguments.size(), call.results.data(),
                         call.results.size(), threads);
  }
  if (error)
    raise(error);
}

nb::object callWithArrays(const Function &function, nb::handle arguments,
                          nb::handle out, unsigned threads, nb::handle stream) {
  Call call;
  nb::sequence given = nb::cast<nb::sequence>(arguments);
  size_t count = nb::len(given);
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
  if (isCallOnDevice(function, arguments))
    return callOnDevice(function, arguments, out, stream);
  nb::object kind = nb::none();
  for (size_t i = 0; i < count; ++i) {
    nb::object object = given[i];
    addArgument(call, function, i, object);
    if (kind.is_none() && !PyFloat_Check(object.ptr()) &&
        !PyLong_Check(object.ptr()))
      kind = nb::borrow(object.type());
  }
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
