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
  return value;
}

void setSignature(Operation *function, const FunctionSignature &value) {
  Builder builder(function->getContext());
  auto bytes = [&](int64_t count) -> Attribute {
    return builder.getI64IntegerAttr(count);
  };
  function->setAttr(
      signatureAttr,
      builder.getDictionaryAttr(
          {builder.getNamedAttr("arguments",
                                builder.getTypeArrayAttr(value.arguments)),
           builder.getNamedAttr("results",
                                builder.getTypeArrayAttr(value.results)),
           builder.getNamedAttr("workspace_bytes", bytes(value.workspaceBytes)),
           builder.getNamedAttr("scratch_bytes", bytes(value.scratchBytes))}));
}

} // namespace drawloom::cpu
