//===- Signature.cpp - what a compiled function takes and gives -----------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Signature.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace drawloom::cpu {

static constexpr llvm::StringLiteral bytesName = "bytes",
                                     extentsName = "extents";

static bool readTerms(DictionaryAttr dictionary, StringRef name,
                      std::vector<MemoryTerm> &terms) {
  auto list = dictionary.getAs<ArrayAttr>(name);
  for (Attribute element : list ? list.getValue() : ArrayRef<Attribute>()) {
    auto term = dyn_cast<DictionaryAttr>(element);
    auto bytes = term ? term.getAs<IntegerAttr>(bytesName) : IntegerAttr();
    auto numbers =
        term ? term.getAs<DenseI64ArrayAttr>(extentsName) : DenseI64ArrayAttr();
    if (!bytes || !numbers)
      return false;
    terms.push_back({bytes.getInt(), numbers.asArrayRef().vec()});
  }
  return list != nullptr;
}

static Attribute termsAttr(Builder &builder, ArrayRef<MemoryTerm> terms) {
  SmallVector<Attribute> list;
  for (const MemoryTerm &term : terms)
    list.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr(bytesName, builder.getI64IntegerAttr(term.bytes)),
         builder.getNamedAttr(extentsName,
                              builder.getDenseI64ArrayAttr(term.extents))}));
  return builder.getArrayAttr(list);
}

FailureOr<FunctionSignature> getSignature(Operation *function) {
  auto dictionary = function->getAttrOfType<DictionaryAttr>(signatureAttr);
  if (!dictionary)
    return failure();
  FunctionSignature value;
  auto readTypes = [&](StringRef name, SmallVector<Type> &types) {
    auto list = dictionary.getAs<ArrayAttr>(name);
    if (!list)
      return false;
    for (Attribute element : list) {
      auto type = dyn_cast<TypeAttr>(element);
      if (!type)
        return false;
      types.push_back(type.getValue());
    }
    return true;
  };
  auto readBytes = [&](StringRef name, int64_t &bytes) {
    auto attr = dictionary.getAs<IntegerAttr>(name);
    if (!attr)
      return false;
    bytes = attr.getInt();
    return true;
  };
  if (!readTypes("arguments", value.arguments) ||
      !readTypes("results", value.results) ||
      !readBytes("workspace_bytes", value.workspaceBytes) ||
      !readBytes("scratch_bytes", value.scratchBytes))
    return failure();
  if (dictionary.contains("records") &&
      (!readBytes("records", value.records) ||
       !readBytes("record_bytes", value.recordBytes)))
    return failure();
  auto list = dictionary.getAs<ArrayAttr>("extents");
  if (!list)
    return value;
  for (Attribute element : list) {
    auto numbers = dyn_cast<DenseI64ArrayAttr>(element);
    if (!numbers)
      return failure();
    value.extents.emplace_back(numbers.asArrayRef());
  }
  if (!readBytes("open_extents", value.openExtents) ||
      !readTerms(dictionary, "workspace_terms", value.workspaceTerms) ||
      !readTerms(dictionary, "scratch_terms", value.scratchTerms) ||
      value.extents.size() != value.arguments.size() + value.results.size())
    return failure();
  return value;
}

void setSignature(Operation *function, const FunctionSignature &value) {
  Builder builder(function->getContext());
  auto bytes = [&](int64_t count) -> Attribute {
    return builder.getI64IntegerAttr(count);
  };
  SmallVector<NamedAttribute> entries{
      builder.getNamedAttr("arguments",
                           builder.getTypeArrayAttr(value.arguments)),
      builder.getNamedAttr("results", builder.getTypeArrayAttr(value.results)),
      builder.getNamedAttr("workspace_bytes", bytes(value.workspaceBytes)),
      builder.getNamedAttr("scratch_bytes", bytes(value.scratchBytes))};
  if (value.records > 0) {
    entries.push_back(builder.getNamedAttr("records", bytes(value.records)));
    entries.push_back(
        builder.getNamedAttr("record_bytes", bytes(value.recordBytes)));
  }
  if (value.isOpen()) {
    SmallVector<Attribute> extents;
    for (ArrayRef<int64_t> numbers : value.extents)
      extents.push_back(builder.getDenseI64ArrayAttr(numbers));
    entries.push_back(
        builder.getNamedAttr("extents", builder.getArrayAttr(extents)));
    entries.push_back(
        builder.getNamedAttr("open_extents", bytes(value.openExtents)));
    entries.push_back(builder.getNamedAttr(
        "workspace_terms", termsAttr(builder, value.workspaceTerms)));
    entries.push_back(builder.getNamedAttr(
        "scratch_terms", termsAttr(builder, value.scratchTerms)));
  }
  function->setAttr(signatureAttr, builder.getDictionaryAttr(entries));
}

} // namespace drawloom::cpu
