//===- Artifact.cpp - compiled programs as bytes --------------------------===//
//
// Part of the Drawloom project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Artifact.h"
#include "codegen/ValueTypeJson.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace drawloom {

json::Value toJSON(const ValueType &type) {
  return json::Object{{"element", static_cast<int>(type.element)},
                      {"shape", json::Array(type.shape)}};
}

bool fromJSON(const json::Value &value, ValueType &type, json::Path path) {
  json::ObjectMapper map(value, path);
  int64_t element = 0;
  if (!map || !map.map("element", element) || !map.map("shape", type.shape))
    return false;
  if (element < 0 || element > static_cast<int64_t>(ElementType::I1)) {
    path.field("element").report("no element type has this number");
    return false;
  }
  type.element = static_cast<ElementType>(element);
  int64_t bytes = elementBytes(type.element);
  for (int64_t extent : type.shape)
    if (extent < 0 || MulOverflow(bytes, extent, bytes)) {
      path.field("shape").report("no extents of memory");
      return false;
    }
  return true;
}

Expected<Artifact> readArtifact(StringRef bytes) {
  runtime::Result<Artifact> artifact = runtime::readArtifact(bytes);
  if (!artifact.ok())
    return createStringError(artifact.message());
  return std::move(*artifact);
}

} // namespace drawloom
