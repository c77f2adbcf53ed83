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

using namespace llvm;

namespace drawloom {

json::Value toJSON(const ValueType &type) {
  return json::Object{{"element", static_cast<int>(type.element)},
                      {"shape", json::Array(type.shape)}};
}

Expected<Artifact> readArtifact(StringRef bytes) {
  runtime::Result<Artifact> artifact = runtime::readArtifact(bytes);
  if (!artifact.ok())
    return createStringError(artifact.message());
  return std::move(*artifact);
}

} // namespace drawloom
