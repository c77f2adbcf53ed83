//===- TtirPrinter.cpp - the text of one Triton kernel --------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/triton/TtirPrinter.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace drawloom;
using namespace drawloom::triton;

Type triton::elementInText(Type type) {
  return isa<IndexType>(type) ? IntegerType::get(type.getContext(), 64) : type;
}

Type triton::elementInMemory(Type type) {
  return type.isInteger(1) ? IntegerType::get(type.getContext(), 8)
                           : elementInText(type);
}

int64_t triton::powerOfTwoAbove(int64_t extent) {
  return extent <= 1 ? 1 : llvm::PowerOf2Ceil(extent);
}

SmallVector<int64_t> triton::paddedShape(ArrayRef<int64_t> extents) {
  return llvm::map_to_vector(extents, powerOfTwoAbove);
}

std::string triton::textOf(Type type) {
  std::string out;
  llvm::raw_string_ostream(out) << type;
  return out;
}

std::string triton::typeText(Type element, ArrayRef<int64_t> shape,
                             bool pointer) {
  std::string out =
      pointer ? "!tt.ptr<" + textOf(element) + ">" : textOf(element);
  if (shape.empty())
    return out;
  std::string extents;
  for (int64_t extent : shape)
    extents += std::to_string(extent) + "x";
  return "tensor<" + extents + out + ">";
}

std::string triton::typeText(const Ssa &value) {
  return typeText(value.element, value.shape, value.pointer);
}

std::string triton::namesText(ArrayRef<Ssa> values) {
  return llvm::join(
      llvm::map_range(values, [](const Ssa &value) { return value.name; }),
      ", ");
}

std::string triton::typesText(ArrayRef<Ssa> values) {
  return llvm::join(
      llvm::map_range(values, [](const Ssa &value) { return typeText(value); }),
      ", ");
}

TtirPrinter::TtirPrinter(MLIRContext *context, StringRef dotPrecision)
    : context(context), dotPrecision(dotPrecision.str()) {}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

void TtirPrinter::line(const std::string &out) {
  text += std::string(indent * 2, ' ') + out + "\n";
}

void TtirPrinter::open(const std::string &out) {
  line(out);
  ++indent;
}

void TtirPrinter::close(const std::string &out) {
  --indent;
  line(out);
}

std::string TtirPrinter::body() const {
  std::string out;
  for (const std::string &constant : entry)
    out += "    " + constant + "\n";
  return out + text;
}

Ssa TtirPrinter::emit(const std::string &operation, Type element,
                      ArrayRef<int64_t> shape, bool pointer) {
  Ssa result{fresh(), element, SmallVector<int64_t>(shape), pointer};
  line(result.name + " = " + operation);
  largest = std::max(largest, ShapedType::getNumElements(shape));
  return result;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Ssa TtirPrinter::constantText(const std::string &literal, Type element,
                              ArrayRef<int64_t> shape) {
  std::string type = typeText(element, shape);
  std::string value = shape.empty() ? literal : "dense<" + literal + ">";
  std::string operation = "arith.constant " + value + " : " + type;
  // `true : i1` is not the way in which upstream prints it.
  if (shape.empty() && element.isInteger(1))
    operation = "arith.constant " + value;
  auto [at, isNew] = constants.try_emplace(operation);
  if (isNew) {
    at->second = "%c" + std::to_string(constants.size());
    entry.push_back(at->second + " = " + operation);
  }
  return {at->second, element, SmallVector<int64_t>(shape), false};
}

Ssa TtirPrinter::constant(Type element, int64_t value,
                          ArrayRef<int64_t> shape) {
  if (auto floatType = dyn_cast<FloatType>(element))
    return constant(FloatAttr::get(floatType, value), shape);
  return constant(IntegerAttr::get(element, value), shape);
}

Ssa TtirPrinter::constant(TypedAttr scalar, ArrayRef<int64_t> shape) {
  Type element = elementInText(scalar.getType());
  std::string literal;
  if (auto number = dyn_cast<FloatAttr>(scalar)) {
    // MLIR prints digits where they say the number exactly, else its bits.
    llvm::raw_string_ostream stream(literal);
    FloatAttr(number).print(stream, /*elideType=*/true);
  } else {
    auto integer = llvm::cast<IntegerAttr>(scalar);
    if (element.isInteger(1))
      literal = integer.getValue().isZero() ? "false" : "true";
    else
      literal = llvm::toString(integer.getValue(), 10, /*Signed=*/true);
  }
  return constantText(literal, element, shape);
}

Ssa triton::neutral(TtirPrinter &print, StringRef combiner, Type element,
                    ArrayRef<int64_t> shape) {
  if (auto floatType = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    APFloat value = APFloat::getZero(semantics);
    if (combiner == "arith.mulf")
      value = APFloat::getOne(semantics);
    else if (combiner == "arith.maximumf" || combiner == "arith.maxnumf")
      value = APFloat::getInf(semantics, /*Negative=*/true);
    else if (combiner == "arith.minimumf" || combiner == "arith.minnumf")
      value = APFloat::getInf(semantics);
    return print.constant(FloatAttr::get(floatType, value), shape);
  }
  unsigned width = element.getIntOrFloatBitWidth();
  APInt value =
      llvm::StringSwitch<APInt>(combiner)
          .Case("arith.muli", APInt(width, 1))
          .Cases({"arith.andi", "arith.minui"}, APInt::getMaxValue(width))
          .Case("arith.maxsi", APInt::getSignedMinValue(width))
          .Case("arith.minsi", APInt::getSignedMaxValue(width))
          .Default(APInt::getZero(width));
  return print.constant(IntegerAttr::get(element, value), shape);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Ssa TtirPrinter::same(StringRef name, ArrayRef<Ssa> operands) {
  const Ssa &first = operands.front();
  return emit(name.str() + " " + namesText(operands) + " : " + typeText(first),
              first.element, first.shape);
}

Ssa TtirPrinter::compare(StringRef name, StringRef predicate, const Ssa &a,
                         const Ssa &b) {
  return emit(name.str() + " " + predicate.str() + ", " + namesText({a, b}) +
                  " : " + typeText(a),
              i1(), a.shape);
}

Ssa TtirPrinter::select(const Ssa &condition, const Ssa &a, const Ssa &b) {
  std::string types = typeText(a);
  if (!condition.isScalar())
    types = typeText(condition) + ", " + types;
  return emit("arith.select " + namesText({condition, a, b}) + " : " + types,
              a.element, a.shape);
}

Ssa TtirPrinter::cast(StringRef name, const Ssa &value, Type to) {
  if (value.element == to)
    return value;
  return emit(name.str() + " " + value.name + " : " + typeText(value) + " to " +
                  typeText(to, value.shape),
              to, value.shape);
}

Ssa TtirPrinter::bitcast(const Ssa &value, Type to) {
  return emit("tt.bitcast " + value.name + " : " + typeText(value) + " -> " +
                  typeText(to, value.shape),
              to, value.shape);
}

Ssa TtirPrinter::libdevice(StringRef symbol, ArrayRef<Ssa> operands) {
  const Ssa &first = operands.front();
  return emit("tt.extern_elementwise " + namesText(operands) +
                  " {libname = \"\", libpath = \"\", pure = true, symbol = \"" +
                  symbol.str() + "\"} : (" + typesText(operands) + ") -> " +
                  typeText(first),
              first.element, first.shape);
}

Ssa triton::convertFloat(TtirPrinter &print, const Ssa &value, Type to) {
  bool wider =
      to.getIntOrFloatBitWidth() > value.element.getIntOrFloatBitWidth();
  // bf16 and f16 have no op between them.
  if (value.element != to && to.getIntOrFloatBitWidth() == 16 &&
      value.element.getIntOrFloatBitWidth() == 16)
    return print.cast("arith.truncf",
                      print.cast("arith.extf", value, print.f32()), to);
  return print.cast(wider ? "arith.extf" : "arith.truncf", value, to);
}

Ssa triton::convertInteger(TtirPrinter &print, const Ssa &value, Type to,
                           bool isSigned) {
  bool wider =
      to.getIntOrFloatBitWidth() > value.element.getIntOrFloatBitWidth();
  return print.cast(wider ? (isSigned ? "arith.extsi" : "arith.extui")
                          : "arith.trunci",
                    value, to);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Ssa TtirPrinter::programId() {
  return emit("tt.get_program_id x : i32", i32(), {});
}

Ssa TtirPrinter::iota(int64_t extent, int64_t dimension, int64_t rank) {
  Ssa out;
  if (extent == 1) {
    SmallVector<int64_t> ones(rank, 1);
    return constant(i32(), 0, ones);
  }
  out = emit("tt.make_range {end = " + std::to_string(extent) +
                 " : i32, start = 0 : i32} : " + typeText(i32(), {extent}),
             i32(), {extent});
  for (int64_t i = 0; i < dimension; ++i)
    out = expandDims(out, 0);
  for (int64_t i = dimension + 1; i < rank; ++i)
    out = expandDims(out, i);
  return out;
}

Ssa TtirPrinter::splat(const Ssa &scalar, ArrayRef<int64_t> shape) {
  return emit("tt.splat " + scalar.name + " : " + typeText(scalar) + " -> " +
                  typeText(scalar.element, shape, scalar.pointer),
              scalar.element, shape, scalar.pointer);
}

Ssa TtirPrinter::expandDims(const Ssa &value, int64_t axis) {
  SmallVector<int64_t> shape(value.shape);
  shape.insert(shape.begin() + axis, 1);
  if (value.isScalar())
    return splat(value, shape);
  return emit("tt.expand_dims " + value.name + " {axis = " +
                  std::to_string(axis) + " : i32} : " + typeText(value) +
                  " -> " + typeText(value.element, shape, value.pointer),
              value.element, shape, value.pointer);
}

Ssa TtirPrinter::broadcast(const Ssa &value, ArrayRef<int64_t> shape) {
  if (ArrayRef<int64_t>(value.shape) == shape)
    return value;
  if (value.isScalar())
    return splat(value, shape);
  return emit("tt.broadcast " + value.name + " : " + typeText(value) + " -> " +
                  typeText(value.element, shape, value.pointer),
              value.element, shape, value.pointer);
}

Ssa TtirPrinter::reshape(const Ssa &value, ArrayRef<int64_t> shape) {
  if (ArrayRef<int64_t>(value.shape) == shape)
    return value;
  if (value.isScalar())
    return splat(value, shape);
  // A tensor of one element has no form of rank 0: its sum is the element.
  if (shape.empty()) {
    Ssa line = reshape(value, {1});
    return reduce(line, 0,
                  isa<FloatType>(value.element) ? "arith.addf" : "arith.addi");
  }
  return emit("tt.reshape " + value.name + " : " + typeText(value) + " -> " +
                  typeText(value.element, shape),
              value.element, shape);
}

Ssa TtirPrinter::transpose(const Ssa &value, ArrayRef<int64_t> order) {
  if (llvm::is_sorted(order))
    return value;
  SmallVector<int64_t> shape;
  for (int64_t from : order)
    shape.push_back(value.shape[from]);
  std::string list = llvm::join(
      llvm::map_range(order, [](int64_t i) { return std::to_string(i); }),
      ", ");
  return emit("tt.trans " + value.name + " {order = array<i32: " + list +
                  ">} : " + typeText(value) + " -> " +
                  typeText(value.element, shape),
              value.element, shape);
}

std::string TtirPrinter::combinerRegion(StringRef kind, StringRef combiner,
                                        Type element) {
  std::string type = typeText(element, {});
  std::string margin((indent + 1) * 2, ' ');
  std::string a = fresh(), b = fresh(), c = fresh();
  return "({\n" + std::string(indent * 2, ' ') + "^bb0(" + a + ": " + type +
         ", " + b + ": " + type + "):\n" + margin + c + " = " + combiner.str() +
         " " + a + ", " + b + " : " + type + "\n" + margin + kind.str() +
         ".return " + c + " : " + type + "\n" + std::string(indent * 2, ' ') +
         "})";
}

Ssa TtirPrinter::reduce(const Ssa &value, int64_t axis, StringRef combiner) {
  SmallVector<int64_t> shape(value.shape);
  shape.erase(shape.begin() + axis);
  std::string region = combinerRegion("tt.reduce", combiner, value.element);
  return emit("\"tt.reduce\"(" + value.name + ") <{axis = " +
                  std::to_string(axis) + " : i32}> " + region + " : (" +
                  typeText(value) + ") -> " + typeText(value.element, shape),
              value.element, shape);
}

Ssa TtirPrinter::scan(const Ssa &value, int64_t axis, bool reverse,
                      StringRef combiner) {
  std::string region = combinerRegion("tt.scan", combiner, value.element);
  return emit("\"tt.scan\"(" + value.name +
                  ") <{axis = " + std::to_string(axis) +
                  " : i32, reverse = " + (reverse ? "true" : "false") + "}> " +
                  region + " : (" + typeText(value) + ") -> " + typeText(value),
              value.element, value.shape);
}

Ssa TtirPrinter::gather(const Ssa &value, const Ssa &indices, int64_t axis) {
  return emit("tt.gather " + value.name + "[" + indices.name +
                  "] {axis = " + std::to_string(axis) + " : i32} : (" +
                  typesText({value, indices}) + ") -> " +
                  typeText(value.element, indices.shape),
              value.element, indices.shape);
}

Ssa TtirPrinter::dot(const Ssa &a, const Ssa &b, const Ssa &sum) {
  dots = true;
  return emit("tt.dot " + namesText({a, b, sum}) +
                  ", inputPrecision = " + dotPrecision + " : " + typeText(a) +
                  " * " + typeText(b) + " -> " + typeText(sum),
              sum.element, sum.shape);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Ssa TtirPrinter::addPointer(const Ssa &pointer, const Ssa &offset) {
  return emit("tt.addptr " + namesText({pointer, offset}) + " : " +
                  typesText({pointer, offset}),
              pointer.element, pointer.shape, /*pointer=*/true);
}

Ssa TtirPrinter::load(const Ssa &pointer, const Ssa &mask, const Ssa &other) {
  std::string operands = pointer.name;
  if (mask)
    operands += ", " + mask.name;
  if (mask && other)
    operands += ", " + other.name;
  return emit("tt.load " + operands + " : " + typeText(pointer),
              pointer.element, pointer.shape);
}

void TtirPrinter::store(const Ssa &pointer, const Ssa &value, const Ssa &mask) {
  line("tt.store " + namesText({pointer, value}) +
       (mask ? ", " + mask.name : std::string()) + " : " + typeText(pointer));
}

void TtirPrinter::barrier() { line("gpu.barrier"); }
