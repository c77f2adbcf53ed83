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
  if (auto list = dictionary.getAs<ArrayAttr>("extents"))
    for (Attribute element : list) {
      auto numbers = dyn_cast<DenseI64ArrayAttr>(element);
      if (!numbers)
        return failure();
      value.extents.emplace_back(numbers.asArrayRef());
    }
  if (auto bytes = dictionary.getAs<DenseI64ArrayAttr>("extent_bytes"))
    llvm::append_range(value.extentBytes, bytes.asArrayRef());
  if (value.isOpen() &&
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
  if (value.isOpen()) {
    SmallVector<Attribute> extents;
    for (ArrayRef<int64_t> numbers : value.extents)
      extents.push_back(builder.getDenseI64ArrayAttr(numbers));
    entries.push_back(
        builder.getNamedAttr("extents", builder.getArrayAttr(extents)));
    entries.push_back(builder.getNamedAttr(
        "extent_bytes", builder.getDenseI64ArrayAttr(value.extentBytes)));
  }
  function->setAttr(signatureAttr, builder.getDictionaryAttr(entries));
}

} // namespace drawloom::cpu
