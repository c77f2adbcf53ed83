//===- ProductAttributes.cpp - dense products as data ---------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/products/ProductAttributes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
namespace json = llvm::json;
namespace cuda = drawloom::runtime::cuda;
using cuda::Kind;

namespace drawloom::nvptx {
namespace {

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
  for (const auto &number : cuda::productNumbers)
    if (product.*number.field != 0)
      list.append(number.name, b.getI64IntegerAttr(product.*number.field));
  for (const auto &flag : cuda::productFlags)
    if (product.*flag.field)
      list.append(flag.name, b.getUnitAttr());
  for (const auto &type : cuda::productTypes)
    list.append(type.name,
                b.getStringAttr(cuda::productKindName(product.*type.field)));
  return list.getDictionary(context);
}

std::optional<Product> productFromAttribute(DictionaryAttr attribute) {
  Product product = unset();
  for (const auto &number : cuda::productNumbers)
    if (Attribute value = attribute.get(number.name)) {
      auto integer = dyn_cast<IntegerAttr>(value);
      if (!integer)
        return std::nullopt;
      product.*number.field = integer.getInt();
    }
  for (const auto &flag : cuda::productFlags)
    product.*flag.field = attribute.get(flag.name) != nullptr;
  for (const auto &type : cuda::productTypes) {
    auto name = attribute.getAs<StringAttr>(type.name);
    std::optional<Kind> kind =
        name ? cuda::productKind(name.getValue()) : std::optional<Kind>();
    if (!kind)
      return std::nullopt;
    product.*type.field = *kind;
  }
  return product;
}

json::Value toJSON(const Product &product) {
  json::Object object;
  for (const auto &number : cuda::productNumbers)
    if (product.*number.field != 0)
      object[number.name] = product.*number.field;
  for (const auto &flag : cuda::productFlags)
    if (product.*flag.field)
      object[flag.name] = true;
  for (const auto &type : cuda::productTypes)
    object[type.name] = cuda::productKindName(product.*type.field);
  return object;
}

} // namespace drawloom::nvptx
