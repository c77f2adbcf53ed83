//===- Values.cpp - arguments and results of a run ------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/drawloom-run/Values.h"
#include "codegen/cpu/Signature.h"
#include "drawloom/runtime/AlignedBuffer.h"
#include "lib/Compiler/Elements.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace drawloom::run {

static StringRef elementName(ElementType element) {
  switch (element) {
  case ElementType::F64:
    return "float64";
  case ElementType::F32:
    return "float32";
  case ElementType::BF16:
    return "bfloat16";
  case ElementType::F16:
    return "float16";
  case ElementType::I64:
    return "int64";
  case ElementType::I32:
    return "int32";
  case ElementType::I8:
    return "int8";
  case ElementType::I1:
    return "bool";
  }
  llvm_unreachable("all element types are listed");
}

int64_t Value::elements() const {
  return bytes.size() / elementBytes(type.element);
}
double Value::asDouble(int64_t i) const {
  const char *at = bytes.data() + i * elementBytes(type.element);
  return isFloat() ? readFloat(type.element, at)
                   : static_cast<double>(readInteger(type.element, at));
}
int64_t Value::asInteger(int64_t i) const {
  return readInteger(type.element,
                     bytes.data() + i * elementBytes(type.element));
}
bool Value::isFloat() const { return isFloatType(type.element); }

bool Slot::hasUnknownExtents() const { return is_contained(shape, -1); }

std::vector<EntryPoint> entryPoints(mlir::ModuleOp module, Phase phase) {
  std::vector<EntryPoint> entries;
  for (auto function : module.getOps<mlir::FunctionOpInterface>()) {
    if (function.isExternal())
      continue;
    EntryPoint entry{function.getName().str(),
                     llvm::to_vector(function.getArgumentTypes()),
                     llvm::to_vector(function.getResultTypes()),
                     function.isPublic(), namesOf(function)};
    if (phase >= Phase::Memory) {
      mlir::FailureOr<cpu::FunctionSignature> signature =
          cpu::getSignature(function);
      // Kernels and helpers cannot be called from outside.
      if (failed(signature))
        continue;
      entry.arguments = signature->arguments;
      entry.results = signature->results;
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

static Expected<std::vector<Slot>> slotsOf(mlir::TypeRange types,
                                           ArrayRef<std::string> names,
                                           StringRef kind, StringRef name) {
  std::vector<Slot> slots;
  for (auto [i, type] : enumerate(types)) {
    auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
    std::optional<ElementType> element = elementTypeOf(type);
    if (!element || (!tensor && mlir::isa<mlir::ShapedType>(type))) {
      std::string text;
      raw_string_ostream(text) << type;
      return createStringError(
          kind + " " + Twine(i) + " of @" + name + " is " + text +
          "; only scalars and ranked tensors of f64, f32, bf16, f16, i64, i32, "
          "i8, i1 and index can be read and written");
    }
    Slot slot{*element, {}, i < names.size() ? names[i] : ""};
    if (tensor)
      for (int64_t extent : tensor.getShape())
        slot.shape.push_back(mlir::ShapedType::isDynamic(extent) ? -1 : extent);
    slots.push_back(std::move(slot));
  }
  return slots;
}

Expected<std::vector<Slot>> argumentsOf(const EntryPoint &entry) {
  return slotsOf(entry.arguments, entry.names.arguments, "argument",
                 entry.name);
}
Expected<std::vector<Slot>> resultsOf(const EntryPoint &entry) {
  return slotsOf(entry.results, entry.names.results, "result", entry.name);
}

std::string resultName(const EntryPoint &entry, size_t i) {
  ArrayRef<std::string> names = entry.names.results;
  if (i < names.size() && !names[i].empty())
    return names[i];
  // Another result may be called so.
  std::string name = "result" + utostr(i);
  while (is_contained(names, name))
    name += "_";
  return name;
}

std::string typeText(ElementType element, ArrayRef<int64_t> shape) {
  std::string text = elementName(element).str() + "[";
  ListSeparator comma;
  for (int64_t extent : shape) {
    text += StringRef(comma);
    text += extent < 0 ? "?" : itostr(extent);
  }
  return text + "]";
}

std::string bytesText(double bytes) {
  static constexpr StringLiteral units[] = {"bytes", "KiB", "MiB", "GiB",
                                            "TiB",   "PiB", "EiB"};
  unsigned unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit)
    bytes /= 1024;
  std::string text;
  raw_string_ostream(text) << format(unit ? "%.1f " : "%.0f ", bytes)
                           << units[unit];
  return text;
}

Expected<int64_t> bytesNeeded(ElementType element, ArrayRef<int64_t> shape) {
  int64_t bytes = elementBytes(element);
  bool overflow = false;
  double estimate = bytes;
  for (int64_t extent : shape) {
    overflow |= MulOverflow(bytes, extent, bytes);
    estimate *= static_cast<double>(extent);
  }
  if (overflow && !is_contained(shape, 0))
    return createStringError(typeText(element, shape) + " needs " +
                             bytesText(estimate) +
                             ", more than 64 bits can count");
  return is_contained(shape, 0) ? 0 : bytes;
}

Error checkMemory(int64_t bytes, const Twine &what) {
  int64_t available = runtime::availableMemory();
  if (bytes <= available)
    return Error::success();
  return createStringError(
      what + " needs " + bytesText(static_cast<double>(bytes)) +
      " of memory; " + bytesText(static_cast<double>(available)) +
      " are available");
}

/// The element type that an array's bytes are, if the slot's or any.
static std::optional<ElementType> elementTypeOf(const numpy::Array &array,
                                                ElementType wanted) {
  unsigned width = array.elementBytes;
  switch (array.kind) {
  case 'f':
    return width == 8   ? ElementType::F64
           : width == 4 ? ElementType::F32
                        : ElementType::F16;
  case 'i':
    if (width == 8)
      return ElementType::I64;
    if (width == 4)
      return ElementType::I32;
    if (width == 1)
      return ElementType::I8;
    return std::nullopt;
  case 'b':
    return ElementType::I1;
  case 'V':
  case 'u':
    // NumPy has no bfloat16: its bits come as uint16 or as ml_dtypes' void16.
    if (width == 2 && (wanted == ElementType::BF16 || array.kind == 'V'))
      return ElementType::BF16;
    return std::nullopt;
  }
  return std::nullopt;
}

Expected<Value> fromArray(const numpy::Array &array, const Slot &slot,
                          bool convert) {
  bool fits = array.shape.size() == slot.shape.size();
  for (size_t d = 0; fits && d < slot.shape.size(); ++d)
    fits = slot.shape[d] < 0 || slot.shape[d] == array.shape[d];
  std::string given = array.typeName() + numpy::shapeText(array.shape);
  std::string wanted = typeText(slot.element, slot.shape);
  if (!fits)
    return createStringError("the argument is " + wanted +
                             ", but the array is " + given);
  std::optional<ElementType> element = elementTypeOf(array, slot.element);
  if (!element)
    return createStringError("the argument is " + wanted +
                             ", but the array is " + given +
                             ", a type that no program takes");
  Value value{{*element, array.shape}, array.bytes};
  if (*element == slot.element)
    return value;
  if (!convert)
    return createStringError("the argument is " + wanted +
                             ", but the array is " + given +
                             "; --convert converts it");
  return fromHostTensor(toHostTensor(value), slot.element);
}

numpy::Array toArray(const Value &value) {
  numpy::Array array;
  array.shape = value.type.shape;
  array.bytes = value.bytes;
  array.elementBytes = elementBytes(value.type.element);
  array.kind = value.isFloat() ? 'f' : 'i';
  if (value.type.element == ElementType::BF16)
    array.kind = 'V';
  if (value.type.element == ElementType::I1)
    array.kind = 'b';
  return array;
}

HostTensor toHostTensor(const Value &value) {
  HostTensor tensor(value.isFloat(), value.type.shape);
  int64_t count = value.elements();
  if (value.isFloat()) {
    MutableArrayRef<double> elements = tensor.mutableF();
    for (int64_t i = 0; i < count; ++i)
      elements[i] = value.asDouble(i);
  } else {
    MutableArrayRef<int64_t> elements = tensor.mutableI();
    for (int64_t i = 0; i < count; ++i)
      elements[i] = value.asInteger(i);
  }
  return tensor;
}

Value fromHostTensor(const HostTensor &tensor, ElementType element) {
  int64_t width = elementBytes(element);
  Value value{{element, tensor.shape().vec()},
              std::string(tensor.size() * width, '\0')};
  char *at = value.bytes.data();
  for (int64_t i = 0, end = tensor.size(); i < end; ++i, at += width) {
    if (isFloatType(element))
      writeFloat(element, at,
                 tensor.isFloat() ? tensor.f()[i]
                                  : static_cast<double>(tensor.i()[i]));
    else
      writeInteger(element, at,
                   tensor.isFloat() ? static_cast<int64_t>(tensor.f()[i])
                                    : tensor.i()[i]);
  }
  return value;
}

Value randomValue(ElementType element, ArrayRef<int64_t> shape, uint64_t seed,
                  uint64_t stream, int64_t low, int64_t high) {
  Value value{{element, shape.vec()}, {}};
  value.bytes.resize(value.type.bytes());
  fillRandom(value.type, value.bytes.data(), seed, stream, low, high);
  return value;
}

static void printElements(raw_ostream &stream, const Value &value,
                          ArrayRef<int64_t> shape, int64_t offset,
                          int64_t &left) {
  if (shape.empty()) {
    if (left-- <= 0)
      return;
    if (value.isFloat())
      stream << format("%.7g", value.asDouble(offset));
    else
      stream << value.asInteger(offset);
    return;
  }
  int64_t stride = 1;
  for (int64_t extent : shape.drop_front())
    stride *= extent;
  stream << '[';
  for (int64_t i = 0; i < shape[0]; ++i) {
    if (i)
      stream << ", ";
    if (left <= 0) {
      stream << "...";
      break;
    }
    printElements(stream, value, shape.drop_front(), offset + i * stride, left);
  }
  stream << ']';
}

void print(raw_ostream &stream, StringRef name, const Value &value) {
  stream << name << ": " << typeText(value.type.element, value.type.shape)
         << " = ";
  int64_t left = 1000;
  printElements(stream, value, value.type.shape, 0, left);
  stream << '\n';
}

Tolerance toleranceOf(ElementType element) {
  switch (element) {
  case ElementType::F64:
    return {1e-11, 1e-11};
  case ElementType::F32:
    return {1e-5, 1e-4};
  case ElementType::BF16:
    return {1e-2, 2e-2};
  case ElementType::F16:
    return {2e-3, 4e-3};
  default:
    return {0, 0};
  }
}

Difference compare(const Value &actual, const Value &expected,
                   Tolerance tolerance) {
  Difference result;
  for (int64_t i = 0, end = expected.elements(); i < end; ++i) {
    double a = actual.asDouble(i), b = expected.asDouble(i);
    // Doubles do not tell all 64-bit integers apart.
    bool same = expected.isFloat()
                    ? a == b || (std::isnan(a) && std::isnan(b))
                    : actual.asInteger(i) == expected.asInteger(i);
    if (same)
      continue;
    double difference = std::fabs(a - b);
    double share =
        difference / (tolerance.absolute + tolerance.relative * std::fabs(b));
    // Not a number on one side, or an infinity against something else.
    if (!std::isfinite(difference))
      difference = share = INFINITY;
    result.largestAbsolute = std::max(result.largestAbsolute, difference);
    if (b != 0)
      result.largestRelative =
          std::max(result.largestRelative, difference / std::fabs(b));
    if (share > result.ofTolerance) {
      result.ofTolerance = share;
      result.at = i;
    }
  }
  return result;
}

} // namespace drawloom::run
