//===- ProductAttributes.cpp - dense products as data ---------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/ProductAttributes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
namespace json = llvm::json;
using drawloom::runtime::cuda::Kind;

namespace drawloom::nvptx {
namespace {

struct Number {
  StringLiteral name;
  int64_t Product::*field;
};
constexpr Number numbers[] = {
    {"m", &Product::m},
    {"n", &Product::n},
    {"k", &Product::k},
    {"batch", &Product::batch},
    {"left_stride", &Product::leftStride},
    {"right_stride", &Product::rightStride},
    {"addend_stride", &Product::addendStride},
    {"result_stride", &Product::resultStride},
    {"left_batch", &Product::leftBatch},
    {"right_batch", &Product::rightBatch},
    {"addend_batch", &Product::addendBatch},
    {"result_batch", &Product::resultBatch},
};

struct Flag {
  StringLiteral name;
  bool Product::*field;
};
constexpr Flag flags[] = {
    {"transpose_left", &Product::transposeLeft},
    {"transpose_right", &Product::transposeRight},
    {"addend", &Product::addend},
    {"bias", &Product::bias},
    {"relu", &Product::relu},
    {"gelu", &Product::gelu},
};

struct Type {
  StringLiteral name;
  Kind Product::*field;
};
constexpr Type types[] = {{"operands", &Product::operands},
                          {"result", &Product::result}};

StringRef nameOf(Kind kind) {
  return kind == Kind::BF16 ? "bf16" : kind == Kind::F16 ? "f16" : "f32";
}

std::optional<Kind> kindOf(StringRef name) {
  for (Kind kind : {Kind::F32, Kind::F16, Kind::BF16})
    if (nameOf(kind) == name)
      return kind;
  return std::nullopt;
}

/// What an absent number means.
Product unset() {
  Product product;
  product.batch = 0;
  return product;
}

} // namespace

DictionaryAttr toAttribute(MLIRContext *context, const Product &product) {
  Builder b(context);
  NamedAttrList list;
  for (const Number &number : numbers)
    if (product.*number.field != 0)
      list.append(number.name, b.getI64IntegerAttr(product.*number.field));
  for (const Flag &flag : flags)
    if (product.*flag.field)
      list.append(flag.name, b.getUnitAttr());
  for (const Type &type : types)
    list.append(type.name, b.getStringAttr(nameOf(product.*type.field)));
  return list.getDictionary(context);
}

std::optional<Product> productFromAttribute(DictionaryAttr attribute) {
  Product product = unset();
  for (const Number &number : numbers)
    if (Attribute value = attribute.get(number.name)) {
      auto integer = dyn_cast<IntegerAttr>(value);
      if (!integer)
        return std::nullopt;
      product.*number.field = integer.getInt();
    }
  for (const Flag &flag : flags)
    product.*flag.field = attribute.get(flag.name) != nullptr;
  for (const Type &type : types) {
    auto name = attribute.getAs<StringAttr>(type.name);
    std::optional<Kind> kind =
        name ? kindOf(name.getValue()) : std::optional<Kind>();
    if (!kind)
      return std::nullopt;
    product.*type.field = *kind;
  }
  return product;
}

json::Value toJSON(const Product &product) {
  json::Object object;
  for (const Number &number : numbers)
    if (product.*number.field != 0)
      object[number.name] = product.*number.field;
  for (const Flag &flag : flags)
    if (product.*flag.field)
      object[flag.name] = true;
  for (const Type &type : types)
    object[type.name] = nameOf(product.*type.field);
  return object;
}

bool fromJSON(const json::Value &value, Product &product, json::Path path) {
  json::ObjectMapper map(value, path);
  product = unset();
  if (!map)
    return false;
  for (const Number &number : numbers)
    if (!map.mapOptional(number.name, product.*number.field))
      return false;
  for (const Flag &flag : flags)
    if (!map.mapOptional(flag.name, product.*flag.field))
      return false;
  for (const Type &type : types) {
    std::string name;
    if (!map.map(type.name, name))
      return false;
    std::optional<Kind> kind = kindOf(name);
    if (!kind)
      return path.field(type.name).report("expected f32, f16 or bf16"), false;
    product.*type.field = *kind;
  }
  if (std::string why = checkProduct(product); !why.empty())
    return path.report("it is no product that a library computes"), false;
  return true;
}

std::string describe(const Product &product) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (product.batch != 1)
    stream << product.batch << " x ";
  stream << product.m << 'x' << product.n << 'x' << product.k << ' '
         << nameOf(product.operands);
  return text;
}

} // namespace drawloom::nvptx
